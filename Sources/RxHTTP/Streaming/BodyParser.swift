package import RxLite

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
}

extension BodyParser {
    package mutating func begin(_: ResponseHead) {}
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
            case .finished: try parser.finish(into: &found)
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
