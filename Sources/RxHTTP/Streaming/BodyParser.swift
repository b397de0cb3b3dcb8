public import RxLite
import Synchronization

extension Observable where Element == TransferEvent, Failure == NetworkError {
    /// The body as it arrives, in decoded chunks of any size.
    ///
    /// While the subscriber is paused, nothing is read from the network (see ``Transport``).
    ///
    /// ```swift
    /// client.stream(.get("/export")).chunks()
    ///     .subscribe(onNext: { bytes in digest.update(bytes) })
    /// ```
    public func chunks() -> Observable<[UInt8], NetworkError> {
        compactMap { event in
            if case .chunk(let bytes) = event { bytes } else { nil }
        }
    }
}

/// Parses a body that arrives in chunks of any size into values.
package protocol BodyParser: Sendable {
    /// The parsed values.
    associatedtype Output: Sendable

    /// Begins the body of this head.
    mutating func begin(_ head: ResponseHead)

    /// Reads the next chunk and appends all complete values to `found`. The values before an error have been
    /// appended when it is thrown.
    mutating func read(_ chunk: [UInt8], into found: inout [Output]) throws(NetworkError)

    /// Ends the body, which is complete.
    mutating func finish(into found: inout [Output]) throws(NetworkError)

    /// The bytes after the last complete value, from which ``finish(into:)`` would make a value; `nil` if it makes
    /// none of incomplete values.
    var remainder: [UInt8]? { get }
}

extension BodyParser {
    package mutating func begin(_: ResponseHead) {}

    package var remainder: [UInt8]? { nil }
}

/// Receives the bytes that follow the last complete value of a body, in place of a value made from them: for a
/// response that may end before its stream does.
package final class BodyRemainder: Sendable {
    private let found = Mutex<[TransferEvent]>([])

    package init() {}

    /// The events of the response with only the remaining bytes in its body; empty if no bytes remain.
    package var events: [TransferEvent] { found.withLock { $0 } }

    fileprivate func set(_ bytes: [UInt8], of head: ResponseHead, _ metrics: TransferMetrics) {
        guard !bytes.isEmpty else { return }
        var head = head
        // So that the parser of these events makes a value of the bytes.
        head.remainder = nil
        found.withLock { [head] in $0 = [.head(head), .chunk(bytes), .finished(metrics)] }
    }
}

extension Observable where Element == TransferEvent, Failure == NetworkError {
    /// The values that a parser finds in the body, one after another. While the subscriber is paused, parsed
    /// values wait and the network is paused.
    package func parsed<Parser: BodyParser>(
        by parser: @escaping @Sendable () -> Parser
    ) -> Observable<Parser.Output, NetworkError> {
        Observable<Parser.Output, NetworkError>(scheduler: scheduler) { observer in
            let run = ParserRun(parser())
            self.flatMap(.concat) { event in run.receive(event) }.subscribe(observer)
        }
    }
}

/// A parser in one subscription.
private final class ParserRun<Parser: BodyParser>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    private var parser: Parser
    private var head: ResponseHead?

    init(_ parser: Parser) { self.parser = parser }

    func receive(_ event: TransferEvent) -> Observable<Parser.Output, NetworkError> {
        var found: [Parser.Output] = []
        do throws(NetworkError) {
            switch event {
            case .head(let head):
                self.head = head
                parser.begin(head)
            case .chunk(let bytes): try parser.read(bytes, into: &found)
            case .finished(let metrics):
                if let head, let taker = head.remainder, let bytes = parser.remainder {
                    taker.set(bytes, of: head, metrics)
                } else {
                    try parser.finish(into: &found)
                }
            case .uploaded, .redirected, .interim, .trailers: break
            }
        } catch {
            var error = error
            error.head = head
            return found.isEmpty ? .fail(error) : .concat([.sequence(found), .fail(error)])
        }
        return found.isEmpty ? .empty() : .sequence(found)
    }
}
