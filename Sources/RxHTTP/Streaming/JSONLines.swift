public import FoundationEssentials
public import RxLite

extension Observable where Element == TransferEvent, Failure == NetworkError {
    /// The body as JSON values, one a line (JSON Lines, NDJSON). Blank lines are skipped.
    ///
    /// A line that does not fit fails with `decoding`: the message tells line and place, the error's body is the
    /// line. The values before it have been sent. Lines above 256 KiB are decoded off the stream's scheduler.
    ///
    /// ```swift
    /// client.stream(Call(.get, "/goods.jsonl")).jsonLines(Goods.self)
    ///     .subscribe(onNext: { goods in … }, onFailure: { error in … })
    /// ```
    ///
    /// - Parameters:
    ///   - type: what each line is.
    ///   - limit: the most bytes of one line; see ``lines(limit:)``. Default 1 MiB.
    ///   - decoder: how lines are decoded.
    public func jsonLines<T: Decodable & Sendable>(
        _ type: T.Type = T.self, limit: Int = 1 << 20, decoder: JSONDecoder = JSONDecoder()
    ) -> Observable<T, NetworkError> {
        parsed { LineParser(limit: limit) }
            .filter { line in !line.bytes.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D } }
            .flatMap(.concat) { line throws(NetworkError) in
                guard line.bytes.count > 256 << 10 else { return .just(try line.decode(T.self, by: decoder)) }
                return Observable<LineParser.Line, NetworkError>.just(line)
                    .observe(on: ActorScheduler.background())
                    .map { line throws(NetworkError) in try line.decode(T.self, by: decoder) }
            }
    }
}

extension LineParser.Line {
    fileprivate func decode<T: Decodable>(_: T.Type, by decoder: JSONDecoder) throws(NetworkError) -> T {
        do {
            return try decoder.decode(T.self, quicklyFrom: bytes)
        } catch {
            var failure = NetworkError(.decoding, "line \(number): \(error)")
            failure.body = bytes
            if let place = (error as? DecodingError)?.place {
                failure.codingPath = place.path
                failure.message =
                    "line \(number), at \(place.path.isEmpty ? "the top" : place.path): \(place.description)"
            }
            throw failure
        }
    }
}
