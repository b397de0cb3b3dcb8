import CLibcurl
import HTTPTypes
import RxHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

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

    /// Whether it is a space, a tab or part of the line's end.
    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A
    }
}

/// The `Content-Length` of a response. libcurl uses the last of several, reads `2abc` as 2 and ignores a
/// number of more than 63 bits; but a response of uncertain length must be refused (RFC 9112 §6.3).
struct ContentLength {
    private(set) var value: Int?
    /// Whether the last line determines the length of the body.
    private var isFraming = false

    /// Checks a field line; false if it is an invalid length or contradicts the one before. A list of equal
    /// numbers counts as one number. libcurl does not join folded lines, so a fold in one of the lines that
    /// determine the length is refused, too (RFC 9112 §5.2).
    mutating func admit(_ line: UnsafeRawBufferPointer) -> Bool {
        if isFraming, let first = unsafe line.first, first == 0x20 || first == 0x09 { return false }
        isFraming = unsafe Self.begins(line, with: "transfer-encoding:")
        guard unsafe Self.begins(line, with: "content-length:") else { return true }
        isFraming = true
        let start = "content-length:".utf8.count
        var number: Int?
        var isComplete = false
        for index in start..<line.count {
            let byte = unsafe line[index]
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let (shifted, isTooLarge) = (number ?? 0).multipliedReportingOverflow(by: 10)
                let (sum, overflows) = shifted.addingReportingOverflow(Int(byte - UInt8(ascii: "0")))
                guard !isComplete, !isTooLarge, !overflows else { return false }
                number = sum
            case UInt8(ascii: ","):
                guard admit(number) else { return false }
                number = nil
                isComplete = false
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"):
                isComplete = number != nil
            default: return false
            }
        }
        return admit(number)
    }

    private mutating func admit(_ number: Int?) -> Bool {
        guard let number, value == nil || value == number else { return false }
        value = number
        return true
    }

    /// Whether the line begins with a field's name and the colon, which are in lower case.
    private static func begins(_ line: UnsafeRawBufferPointer, with name: StaticString) -> Bool {
        let count = name.utf8CodeUnitCount
        guard line.count >= count, let first = unsafe line.first,
            unsafe first | 0x20 == name.utf8Start.pointee,
            let start = unsafe line.assumingMemoryBound(to: CChar.self).baseAddress
        else { return false }
        return unsafe name.utf8Start.withMemoryRebound(to: CChar.self, capacity: count) {
            unsafe strncasecmp(start, $0, count) == 0
        }
    }
}

/// Refuses a response whose first field line begins with a blank, if its easy handle has been used before: libcurl
/// would continue the last field of the previous response with it (``LibcurlFault/readsFreedHeaders``).
///
/// With `CURLOPT_HEADER`, libcurl passes each line of a head to the write callback too, and does so before it keeps the
/// line (`chop_write`). The option is on until the first field of the transfer has been kept, which a folded line may
/// then continue. Transfers for which libcurl itself may send the request again, and then receive a second final head,
/// get a new handle.
struct FirstLineGuard {
    /// Whether the write callback gets lines instead of the body.
    private(set) var isOn = false
    /// Whether a part of the current line has been seen: libcurl divides long ones.
    private var isInsideLine = false

    mutating func turn(on isOn: Bool) { self = Self(isOn: isOn) }

    /// Returns whether libcurl may keep the line that continues with this part.
    mutating func admits(_ part: UnsafeRawBufferPointer, isStatusLine: Bool) -> Bool {
        defer { isInsideLine = true }
        guard !isInsideLine, !isStatusLine, let first = unsafe part.first else { return true }
        return first != 0x20 && first != 0x09
    }

    mutating func endLine() { isInsideLine = false }

    /// Whether libcurl may keep a second final head for this transfer: after a refused expectation (417), or after a
    /// challenge of the proxy.
    static func expectsTwoHeads(_ transfer: Transfer) -> Bool {
        transfer.expectation.wait != nil || transfer.multi.configuration.proxy.authenticationMask != nil
    }
}

extension EasyHandle {
    /// Turns the guard on before a transfer, unless the handle is new, or off.
    func guardFirstLine(_ isOn: Bool) {
        guard firstLine.isOn != isOn else { return firstLine.endLine() }
        firstLine.turn(on: isOn)
        set(CURLOPT_HEADER, isOn ? 1 : 0)
    }
}
