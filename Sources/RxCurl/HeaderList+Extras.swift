internal import RxHTTP

extension HeaderList {
    /// What the transport has to say of the content in the header fields.
    struct Extras: Equatable {
        var framing: TransferContent.Framing
        var expectsContinue: Bool
        var compression: Compression

        init(of transfer: Transfer) {
            framing = transfer.content.framing(of: transfer.request)
            expectsContinue = transfer.continueWait != nil
            compression = transfer.content.length == 0 ? .none : transfer.request.compression
        }

        /// Lines as curl takes them. A name alone takes out what curl would add to content by itself: a form's
        /// `Content-Type`, and `Expect`, which costs a round trip or a second's wait.
        func lines(hasType: Bool) -> [String] {
            guard framing != .none else { return [] }
            var lines = [expectsContinue ? "Expect: 100-continue" : "Expect:"]
            if !hasType { lines.append("Content-Type:") }
            if framing == .chunked { lines.append("Transfer-Encoding: chunked") }
            if compression == .gzip { lines.append("Content-Encoding: gzip") }
            return lines
        }
    }
}
