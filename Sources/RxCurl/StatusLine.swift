internal import HTTPTypes
internal import RxHTTP

/// Parses status lines: `HTTP/1.1 404 Not Found` (RFC 9112 §4), `HTTP/2 404`.
///
/// A server usually sends the same few lines, so the last one is kept.
struct StatusLine {
    private var line: [UInt8] = []
    private var status: HTTPResponse.Status?
    /// The version in the last line; `nil` if that was not a status line.
    private(set) var version: HTTPVersion?

    /// Returns the status, or `nil` if the line is not a status line.
    mutating func read(_ bytes: UnsafeRawBufferPointer) -> HTTPResponse.Status? {
        if let status, unsafe bytes.holds(line) { return status }
        guard let parsed = unsafe Self.parse(bytes) else {
            (status, version) = (nil, nil)
            return nil
        }
        unsafe line = Array(bytes)
        status = parsed
        version = unsafe HTTPVersion(String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self))
        return parsed
    }

    private static func parse(_ bytes: UnsafeRawBufferPointer) -> HTTPResponse.Status? {
        guard unsafe bytes.starts(with: "HTTP/".utf8),
            let space = unsafe bytes.firstIndex(of: UInt8(ascii: " "))
        else { return nil }
        var code = 0
        var index = space + 1
        while index < bytes.count, index <= space + 3, case let byte = unsafe bytes[index],
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        {
            code = code * 10 + Int(byte - UInt8(ascii: "0"))
            index += 1
        }
        guard index == space + 4, unsafe index == bytes.count || isBlank(bytes[index]) else { return nil }
        var end = bytes.count
        while end > index, unsafe isBlank(bytes[end - 1]) { end -= 1 }
        while index < end, unsafe isBlank(bytes[index]) { index += 1 }
        let reason = unsafe String(
            decoding: UnsafeRawBufferPointer(rebasing: bytes[index..<end]), as: UTF8.self)
        return HTTPResponse.Status(code: code, reasonPhrase: reason)
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A
    }
}
