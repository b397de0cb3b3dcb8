#if Auth
/// The head of a request to the listener for a redirect.
enum LoopbackRequest: Equatable {
    /// A GET with its target, without a fragment.
    case get(String)
    /// Anything else.
    case malformed

    /// The most bytes of a head. Cookies of other programs at 127.0.0.1 may be in it.
    static let sizeLimit = 64 << 10

    /// Reads a head in parts, each byte once.
    struct Parser {
        private var line: [UInt8] = []
        private var isFirstLineComplete = false
        private var count = 0
        /// The bytes of the current line so far, of header fields as well.
        private var length = 0
        private var isAfterCarriageReturn = false

        init() {}

        /// Adds bytes.
        ///
        /// - Returns: the request once its head is complete, or cannot become one; `nil` before.
        mutating func append(_ bytes: ArraySlice<UInt8>) -> LoopbackRequest? {
            for byte in bytes {
                count += 1
                guard count <= LoopbackRequest.sizeLimit else { return .malformed }
                guard byte == 0x0A else {
                    // A carriage return belongs to the end of a line only.
                    if isAfterCarriageReturn || byte == 0 { return .malformed }
                    isAfterCarriageReturn = byte == 0x0D
                    if !isAfterCarriageReturn {
                        length += 1
                        if !isFirstLineComplete { line.append(byte) }
                    }
                    continue
                }
                isAfterCarriageReturn = false
                if isFirstLineComplete, length == 0 { return LoopbackRequest(line: line) }
                // Empty lines before a request are ignored (RFC 9112 §2.2).
                if length > 0 { isFirstLineComplete = true }
                length = 0
            }
            return nil
        }
    }

    /// Reads a request line (RFC 9112 §3).
    private init(line: [UInt8]) {
        let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].elementsEqual("GET".utf8), parts[1].first == UInt8(ascii: "/"),
            parts[1].allSatisfy({ (0x21...0x7E).contains($0) }), parts[2].starts(with: "HTTP/1.".utf8)
        else {
            self = .malformed
            return
        }
        self = .get(String(decoding: parts[1].prefix { $0 != UInt8(ascii: "#") }, as: UTF8.self))
    }
}

/// The pages that the browser shows after a login. They contain nothing of the request.
enum LoopbackPage {
    case accepted
    case refused
    /// The response to another login.
    case stranger
    case missing
    case malformed

    /// The text is for people; no program reads it.
    private var content: (status: String, text: String) {
        switch self {
        case .accepted: ("200 OK", "The login continues in the program. You can close this window.")
        case .refused: ("200 OK", "The login has failed. The program says why. You can close this window.")
        case .stranger:
            ("400 Bad Request", "This is not the login that the program waits for. Use the newest window.")
        case .missing: ("404 Not Found", "There is nothing here.")
        case .malformed: ("400 Bad Request", "The request is malformed.")
        }
    }

    /// The response. It must fit the buffer of a new connection; see ``LoopbackConnection/send(_:)``.
    var bytes: [UInt8] {
        let (status, text) = content
        let body = "<!doctype html><meta charset=\"utf-8\"><title>Login</title><p>\(text)</p>\n"
        let head = [
            "HTTP/1.1 \(status)", "Content-Type: text/html; charset=utf-8",
            "Content-Length: \(body.utf8.count)",
            "Cache-Control: no-store", "Referrer-Policy: no-referrer",
            "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'",
            "X-Content-Type-Options: nosniff", "Connection: close",
        ]
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }
}
#endif
