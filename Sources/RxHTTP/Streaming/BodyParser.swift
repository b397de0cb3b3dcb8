package import RxLite

/// Makes values of a body that comes in pieces of any size.
package protocol BodyParser: Sendable {
    /// What it finds.
    associatedtype Output: Sendable

    /// The body of this head begins.
    mutating func begin(_ head: ResponseHead)

    /// Reads the next piece and adds what is complete to `found`. What is there before an error has been added
    /// when it is thrown.
    mutating func read(_ chunk: [UInt8], into found: inout [Output]) throws(NetworkError)

    /// The body is complete.
    mutating func finish(into found: inout [Output]) throws(NetworkError)
}

extension BodyParser {
    package mutating func begin(_: ResponseHead) {}
}

extension Observable where Element == TransferEvent, Failure == NetworkError {
    /// What a parser finds in the body, one value after the other: while the subscriber is paused the values that
    /// have been found wait, and the network does, too.
    package func parsed<Parser: BodyParser>(
        by parser: @escaping @Sendable () -> Parser
    ) -> Observable<Parser.Output, NetworkError> {
        Observable<Parser.Output, NetworkError>(scheduler: scheduler) { observer in
            let run = ParserRun(parser())
            self.flatMap(.concat) { event in run.receive(event) }.subscribe(observer)
        }
    }
}

/// A parser at work in one subscription.
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
