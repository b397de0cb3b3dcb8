import CLibcurl
import HTTPTypes
import RxHTTP

/// Header fields for curl (`CURLOPT_HTTPHEADER`): immutable, shared by the transfers that send them, and
/// freed after the last one.
///
/// A list may continue with another one, so that requests that differ in a few fields share the others.
@safe
final class HeaderList {
    // Safe: the memory is freed with the object, which holds the rest of the list, and handles keep the object as
    // long as they use it. curl reads the nodes and changes nothing (`CURLOPT_HTTPHEADER`).
    let raw: UnsafeMutablePointer<curl_slist>?
    private let memory: UnsafeMutableRawPointer?
    private let rest: HeaderList?

    /// Builds the list for `fields`; throws ``NetworkError/Code/invalidHeader``.
    ///
    /// - Parameters:
    ///   - extras: the fields that the transport adds.
    ///   - lines: those of them to write after `fields`.
    ///   - rest: the list that follows.
    init(
        _ fields: ArraySlice<HTTPField>, _ extras: Extras, lines: [String] = [],
        before rest: HeaderList? = nil, request: Request
    ) throws(NetworkError) {
        for field in fields {
            if let flaw = Self.flaw(in: field, extras) {
                throw NetworkError(.invalidHeader, flaw, request: request)
            }
        }
        self.rest = rest
        let count = fields.count + lines.count
        guard count > 0 else {
            unsafe memory = nil
            unsafe raw = rest?.raw
            return
        }
        // One allocation for all nodes and lines.
        let nodeBytes = unsafe count * MemoryLayout<curl_slist>.stride
        let lineBytes =
            fields.reduce(0) { $0 + Self.byteCount(of: $1) } + lines.reduce(0) { $0 + $1.utf8.count + 1 }
        let memory = unsafe UnsafeMutableRawPointer.allocate(
            byteCount: nodeBytes + lineBytes, alignment: MemoryLayout<curl_slist>.alignment)
        let nodes = unsafe memory.bindMemory(to: curl_slist.self, capacity: count)
        let following = unsafe rest?.raw
        var writer = unsafe LineWriter(at: memory + nodeBytes)
        for index in 0..<count {
            let data =
                index < fields.count
                ? unsafe writer.add(fields[fields.startIndex + index])
                : unsafe writer.add(lines[index - fields.count])
            let next = unsafe index + 1 < count ? nodes.advanced(by: index + 1) : following
            unsafe nodes.advanced(by: index).initialize(to: curl_slist(data: data, next: next))
        }
        unsafe self.memory = unsafe memory
        unsafe raw = unsafe nodes
    }

    deinit { unsafe memory?.deallocate() }

    /// The most bytes that ``LineWriter/add(_:)`` writes for the field, with the NUL.
    private static func byteCount(of field: HTTPField) -> Int {
        unsafe field.withUnsafeBytesOfValue { field.name.rawName.utf8.count + $0.count + 3 }
    }

    private static func flaw(in field: HTTPField, _ extras: Extras) -> String? {
        let name = field.name
        guard !name.rawName.isEmpty, name.rawName.allBytes(isTokenByte) else {
            return "the header name \(name.rawName.debugDescription) is not a token"
        }
        // What ``Extras/lines(besides:)`` adds is refused here, or gives way there to a field of the request.
        switch name.canonicalName {
        case "host", "content-length", "transfer-encoding", "expect":
            return "\(name) is set by the transport; remove it from the request"
        case "content-encoding" where extras.compressesContent:
            return "\(name) is set by the transport, which compresses the body; remove it from the request"
        default: break
        }
        let isLegal = unsafe field.withUnsafeBytesOfValue { value in
            unsafe value.allSatisfy { $0 != 0 && $0 != 0x0A && $0 != 0x0D }
        }
        return isLegal ? nil : "the value of \(name) contains CR, LF or NUL"
    }

    /// A `tchar` of RFC 9110 §5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

/// Writes lines one after another, each with a NUL at its end.
@safe
private struct LineWriter {
    // Safe: the memory has room for all lines, which the list has counted (``HeaderList/byteCount(of:)``).
    private var end: UnsafeMutableRawPointer

    init(at start: UnsafeMutableRawPointer) { unsafe end = unsafe start }

    /// Writes the line of a field; returns its start. A line with only a name removes a header; with a semicolon the
    /// header is sent empty. ``RequestHeadBytes`` reads both forms.
    mutating func add(_ field: HTTPField) -> UnsafeMutablePointer<CChar> {
        let start = unsafe end
        write(field.name.rawName)
        unsafe field.withUnsafeBytesOfValue { value in
            write(value.isEmpty ? ";" : ": ")
            unsafe write(UnsafeRawBufferPointer(value))
        }
        return unsafe finish(from: start)
    }

    mutating func add(_ line: String) -> UnsafeMutablePointer<CChar> {
        let start = unsafe end
        write(line)
        return unsafe finish(from: start)
    }

    private mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { unsafe write(UnsafeRawBufferPointer($0)) }
    }

    private mutating func write(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        unsafe end.copyMemory(from: start, byteCount: bytes.count)
        unsafe end += bytes.count
    }

    private mutating func finish(from start: UnsafeMutableRawPointer) -> UnsafeMutablePointer<CChar> {
        unsafe end.storeBytes(of: 0, as: UInt8.self)
        unsafe end += 1
        return unsafe start.assumingMemoryBound(to: CChar.self)
    }
}

extension HeaderList {
    /// The header fields that the transport adds for the content. ``HeaderListCache`` finds lists by them and
    /// the request's fields, so nothing else may decide what ``lines(besides:)`` returns.
    struct Extras: Equatable {
        var framing = TransferContent.Framing.none
        var expectsContinue = false
        var compressesContent = false
        var decodesContent = true

        /// The extras of a request without content.
        static let none = Extras()

        private init() {}

        init(of transfer: Transfer) {
            framing = transfer.content.framing(of: transfer.request)
            expectsContinue = transfer.expectation.wait != nil
            compressesContent = transfer.content.length != 0 && transfer.request.compressesContent
            decodesContent = transfer.request.decodesContent
        }

        /// The fields as they are sent: with one field of cookies, and without codings that could not be decoded: a
        /// range applies to the coded content (RFC 9110 §14.2), and a part of coded content cannot be decoded.
        func sent(_ fields: [HTTPField]) -> [HTTPField] {
            let fields = Self.withOneCookie(fields)
            guard decodesContent, fields.contains(where: { $0.name == .range }) else { return fields }
            return fields.filter { $0.name != .acceptEncoding }
        }

        /// Joins cookies: HTTPTypes keeps each one as a separate field, but over HTTP/1.1 there must be only one
        /// field (RFC 6265 §5.4).
        private static func withOneCookie(_ fields: [HTTPField]) -> [HTTPField] {
            let cookies = fields.filter { $0.name == .cookie }
            guard cookies.count > 1 else { return fields }
            let value = cookies.map(\.value).joined(separator: "; ")
            return fields.filter { $0.name != .cookie } + [HTTPField(name: .cookie, value: value)]
        }

        /// The lines for curl. A line with only a name removes a header that curl would add to content: a
        /// form's `Content-Type`, and `Expect`, which costs a round trip or a wait of one second.
        ///
        /// `Accept-Encoding` names the codings that the transport decodes.
        func lines(besides fields: [HTTPField]) -> [String] {
            func has(_ name: HTTPField.Name) -> Bool { fields.contains { $0.name == name } }
            var lines: [String] = []
            if decodesContent, !has(.acceptEncoding) {
                lines.append("Accept-Encoding: \(has(.range) ? "identity" : ContentCoding.accepted)")
            }
            // curl sends what these lines announce: see ``EasyHandle/setContent(_:method:)``, and ``Gzip``.
            guard framing != .none else { return lines }
            lines.append(expectsContinue ? "Expect: 100-continue" : "Expect:")
            if !has(.contentType) { lines.append("Content-Type:") }
            if framing == .chunked { lines.append("Transfer-Encoding: chunked") }
            if compressesContent { lines.append("Content-Encoding: gzip") }
            return lines
        }
    }
}

/// A list of strings for curl (`curl_slist`).
@safe
final class StringList {
    // Safe: the list is freed with the object, which lives as long as the handles that use it.
    let raw: UnsafeMutablePointer<curl_slist>?

    /// Returns `nil` if out of memory.
    init?(_ texts: [String]) {
        var list: UnsafeMutablePointer<curl_slist>?
        for text in texts {
            guard let grown = unsafe curl_slist_append(list, text) else {
                unsafe curl_slist_free_all(list)
                return nil
            }
            unsafe list = grown
        }
        unsafe raw = unsafe list
    }

    deinit { unsafe curl_slist_free_all(raw) }
}
