internal import CLibcurl
internal import HTTPTypes
internal import RxHTTP

/// Header fields for curl (`CURLOPT_HTTPHEADER`): immutable, shared by the transfers that send them, and
/// freed after the last one.
@safe
final class HeaderList {
    // Safe: the list is freed with the object, and handles keep the object as long as they use it.
    let raw: UnsafeMutablePointer<curl_slist>?

    /// Builds the list for `fields`; throws ``NetworkError/Code/invalidHeader``.
    ///
    /// - Parameter extras: the fields that the transport adds.
    init(_ fields: [HTTPField], _ extras: Extras, request: Request) throws(NetworkError) {
        var list: UnsafeMutablePointer<curl_slist>?
        var flaw: String?
        let fields = extras.sent(Self.withOneCookie(fields))
        for field in fields where flaw == nil {
            flaw = Self.flaw(in: field, extras)
            guard flaw == nil else { break }
            let grown = unsafe field.withUnsafeBytesOfValue { value in
                // A line with only a name removes a header; with a semicolon the header is sent empty.
                var line = Array(field.name.rawName.utf8)
                if value.isEmpty {
                    line.append(UInt8(ascii: ";"))
                } else {
                    line += [UInt8(ascii: ":"), UInt8(ascii: " ")]
                    unsafe line += value
                }
                line.append(0)
                return unsafe line.withUnsafeBytes { bytes in
                    unsafe curl_slist_append(list, bytes.bindMemory(to: CChar.self).baseAddress)
                }
            }
            if let grown = unsafe grown { unsafe list = grown } else { flaw = "out of memory" }
        }
        if flaw == nil {
            for line in extras.lines(besides: fields) {
                if let grown = unsafe curl_slist_append(list, line) { unsafe list = grown }
            }
        }
        if let flaw {
            unsafe curl_slist_free_all(list)
            throw NetworkError(.invalidHeader, flaw, request: request)
        }
        unsafe raw = unsafe list
    }

    /// Joins cookies: HTTPTypes keeps each one as a separate field, but over HTTP/1.1 there must be only one
    /// field (RFC 6265 §5.4).
    private static func withOneCookie(_ fields: [HTTPField]) -> [HTTPField] {
        let cookies = fields.filter { $0.name == .cookie }
        guard cookies.count > 1 else { return fields }
        let value = cookies.map(\.value).joined(separator: "; ")
        return fields.filter { $0.name != .cookie } + [HTTPField(name: .cookie, value: value)]
    }

    deinit { unsafe curl_slist_free_all(raw) }

    private static func flaw(in field: HTTPField, _ extras: Extras) -> String? {
        let name = field.name
        guard !name.rawName.isEmpty, name.rawName.utf8.allSatisfy(isTokenByte) else {
            return "the header name \(name.rawName.debugDescription) is not a token"
        }
        switch name.canonicalName {
        case "host", "content-length", "transfer-encoding", "expect":
            return "\(name) is set by the transport; remove it from the request"
        case "content-encoding" where extras.compression != .identity:
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

/// The header lists used last; a client usually sends the same fields again.
struct HeaderListCache {
    private struct Entry {
        let fields: [HTTPField]
        let extras: HeaderList.Extras
        let list: HeaderList
    }

    private var entries: [Entry] = []
    private static let capacity = 8
    /// The list for a GET without additional fields.
    private var bare: HeaderList?

    /// Returns the list for the fields of the transfer's request, or creates it; throws
    /// ``NetworkError/Code/invalidHeader``.
    mutating func list(for transfer: Transfer) throws(NetworkError) -> HeaderList {
        let wanted = transfer.request.headerFields
        if wanted.isEmpty, case .none = transfer.content, transfer.request.method == .get,
            transfer.request.decodesContent
        {
            if let bare { return bare }
            let made = try HeaderList([], .none, request: transfer.request)
            bare = made
            return made
        }
        let extras = HeaderList.Extras(of: transfer)
        if let found = entries.firstIndex(where: { $0.extras == extras && Self.match($0.fields, wanted) }) {
            if found > 0 { entries.swapAt(found, found - 1) }
            return entries[max(0, found - 1)].list
        }
        let fields = Array(wanted)
        let list = try HeaderList(fields, extras, request: transfer.request)
        if entries.count == Self.capacity { entries.removeLast() }
        entries.append(Entry(fields: fields, extras: extras, list: list))
        return list
    }

    private static func match(_ fields: [HTTPField], _ wanted: HTTPFields) -> Bool {
        fields.count == wanted.count
            && zip(fields, wanted).allSatisfy { $0.name.rawName == $1.name.rawName && $0 == $1 }
    }
}
