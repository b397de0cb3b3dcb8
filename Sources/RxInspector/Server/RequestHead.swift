#if Inspector
import FlyingSocks
import HTTPTypes

/// The head of a request (RFC 9112 §3 and §5).
struct RequestHead: Equatable, Sendable {
    let method: String
    /// The path as sent, without the query.
    let path: String
    /// The query as sent, without the question mark; empty if there is none.
    let query: String
    /// The server's name and port; `nil` if there is no `Host` field, or more than one.
    let host: String?
    private(set) var fields = HTTPFields()

    /// Parses the lines of a head; `nil` for a malformed one.
    init?(_ bytes: some Sequence<UInt8>) {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
        let words = lines.removeFirst().trimmed.split(
            separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, words[2].starts(with: "HTTP/1.".utf8) else { return nil }
        method = String(decoding: words[0], as: UTF8.self)
        let target = words[1].split(
            separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        path = String(decoding: target[0], as: UTF8.self)
        query = target.count > 1 ? String(decoding: target[1], as: UTF8.self) : ""
        var hosts: [String] = []
        for line in lines where !line.trimmed.isEmpty {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
            else { return nil }
            let value = String(decoding: line[(colon + 1)...].trimmed, as: UTF8.self)
            if name.canonicalName == "host" { hosts.append(value) }
            fields.append(HTTPField(name: name, value: value))
        }
        host = hosts.count == 1 ? hosts[0] : nil
    }

    /// The bytes of a head, and those behind it that have come with it.
    ///
    /// - Parameter limit: the maximum number of bytes that are read before the end of the head.
    /// - Returns: `nil` for a head that is larger.
    /// - Throws: if the connection ends before.
    static func read(
        from socket: AsyncSocket, limit: Int
    ) async throws -> (head: ArraySlice<UInt8>, rest: ArraySlice<UInt8>)? {
        var bytes: [UInt8] = []
        while bytes.count < limit {
            // The end may have begun in the part before.
            let start = max(0, bytes.count - 3)
            bytes += try await socket.read(atMost: min(4096, limit - bytes.count))
            if let end = bytes[start...].firstRange(of: [13, 10, 13, 10]) {
                return (bytes[..<end.lowerBound], bytes[end.upperBound...])
            }
        }
        return nil
    }
}

extension ArraySlice<UInt8> {
    /// The bytes without blanks at both ends (RFC 9110 §5.6.3).
    fileprivate var trimmed: ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0D].contains(byte) }
        let start = drop(while: isBlank)
        return start.prefix(start.lastIndex { !isBlank($0) }.map { $0 - start.startIndex + 1 } ?? 0)
    }
}
#endif
