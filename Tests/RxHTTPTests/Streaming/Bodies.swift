import HTTPTypes
import RxHTTP
import RxLite
import RxTesting

extension Observable where Element == TransferEvent, Failure == NetworkError {
    /// A body in these pieces, which finishes unless `error` is given.
    static func body(_ pieces: [[UInt8]], failing error: NetworkError? = nil) -> Observable {
        let events =
            [.head(ResponseHead(status: .ok))] + pieces.map { TransferEvent.chunk($0) }
            + (error == nil ? [.finished(TransferMetrics())] : [])
        return error.map { .concat([.sequence(events), .fail($0)]) } ?? .sequence(events)
    }

    static func body(_ text: String) -> Observable { body([Array(text.utf8)]) }
}

extension [UInt8] {
    /// All ways to cut the bytes in two, single bytes, and all in one piece.
    var cuts: [[[UInt8]]] {
        [[self], map { [$0] }] + indices.map { [Array(self[..<$0]), Array(self[$0...])] }
    }
}
