#if Auth
import FoundationEssentials
public import HTTPTypes
import RawStructuredFieldValues
public import RxHTTP

/// A request or response whose components a signature covers.
public struct SignableMessage: Sendable {
    /// The header fields.
    public var headerFields: HTTPFields
    /// The fields of the trailer, if it is known.
    public var trailers: HTTPFields = [:]
    /// The content, if it is known. A verifier compares it with a covered digest.
    public var content: [UInt8]?
    let status: HTTPResponse.Status?
    let request: RequestTarget?
    /// The fields of the request, in the signature of a response.
    private let requestFields: HTTPFields?

    /// A request with content in memory, or without its content.
    public init(_ request: Request) {
        headerFields = request.headerFields
        switch request.body {
        case .empty: content = []
        case .bytes(let bytes): content = bytes
        case .streamed: content = nil
        }
        status = nil
        self.request = RequestTarget(request)
        requestFields = nil
    }

    /// A request as a server sees it.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - url: the absolute URL as text.
    ///   - headerFields: the header fields.
    ///   - content: the content, if it is known.
    public init(
        _ method: HTTPRequest.Method, _ url: String, headerFields: HTTPFields, content: [UInt8]? = nil
    ) {
        self.headerFields = headerFields
        self.content = content
        status = nil
        request = RequestTarget(method, url)
        requestFields = nil
    }

    /// A whole response. A digest covers the content as it was sent: request it with ``RxHTTP/Request/decodesContent`` set
    /// to false, or from a server that uses no content coding.
    public init(_ response: Response) {
        self.init(response.head, to: response.request)
        trailers = response.trailers
        content = response.body
    }

    /// The head of a response.
    ///
    /// - Parameters:
    ///   - head: the status and the header fields.
    ///   - request: the request that it answers, for components of the request. Default `nil`: unknown.
    public init(_ head: ResponseHead, to request: Request? = nil) {
        headerFields = head.headerFields
        status = head.status
        self.request = request.flatMap { RequestTarget($0) }
        requestFields = request?.headerFields
    }

    /// The value of a component in the signature base (RFC 9421 §2); `nil` if the message does not have it, or not once,
    /// or not in the form that the component requires.
    ///
    /// - Parameter kinds: the kinds of structured fields that the app has defined.
    func value(of component: SignatureComponent, _ kinds: [HTTPField.Name: StructuredFieldKind]) -> String? {
        let isOfRequest = component.modifiers.contains(.request)
        // A signature of a request has no other request.
        if isOfRequest, status == nil { return nil }
        guard component.name.utf8.first != UInt8(ascii: "@") else {
            return derived(component, isOfRequest: isOfRequest)
        }
        guard let name = HTTPField.Name(component.name) else { return nil }
        let isOfTrailer = component.modifiers.contains(.trailer)
        if isOfTrailer, isOfRequest { return nil }
        let fields = isOfRequest ? requestFields : isOfTrailer ? trailers : headerFields
        // HTTPTypes keeps each cookie as a field, but they are sent as one (RFC 6265 §5.4).
        let lines = name == .cookie ? [fields?[name]].compactMap { $0 } : fields?[values: name] ?? []
        guard !lines.isEmpty else { return nil }
        var form: SignatureComponent.Modifier?
        for modifier in component.modifiers {
            switch modifier {
            case .request, .trailer: continue
            case .parameter: return nil
            case .structured, .member, .bytes:
                // `key` implies the strict serialization; the others exclude each other.
                if case .member? = form, modifier == .structured { continue }
                if case .member = modifier, form == .structured {
                    form = modifier
                    continue
                }
                guard form == nil else { return nil }
                form = modifier
            }
        }
        let value = lines.map(\.trimmedLine).joined(separator: ", ")
        switch form {
        case nil: return value
        case .bytes:
            return lines.map { ":\(Data($0.trimmedLine.utf8).base64EncodedString()):" }.joined(
                separator: ", ")
        case .structured: return structured(name, value, kinds)
        case .member(let key):
            return StructuredText.dictionary(value)?[key].flatMap { StructuredText.serialized($0) }
        default: return nil
        }
    }

    /// The digest that a component covers; `nil` if the message has none of a known algorithm.
    func contentDigest(of component: SignatureComponent) -> ContentDigest? {
        let fields = component.isOfTrailer ? trailers : headerFields
        let digest = fields[.contentDigest].flatMap { ContentDigest(field: $0) }
        guard let key = component.memberKey else { return digest }
        guard let algorithm = DigestAlgorithm(rawValue: key), let bytes = digest?.digests[algorithm] else {
            return nil
        }
        return ContentDigest([algorithm: bytes])
    }

    private func derived(_ component: SignatureComponent, isOfRequest: Bool) -> String? {
        let modifiers = component.modifiers.subtracting([.request])
        if component.name == "@status" {
            return component.modifiers.isEmpty ? status.map { "\($0.code)" } : nil
        }
        guard let request, isOfRequest || status == nil else { return nil }
        if component.name == "@query-param" {
            guard modifiers.count == 1, case .parameter(let name)? = modifiers.first else { return nil }
            return request.parameter(name)
        }
        guard modifiers.isEmpty else { return nil }
        switch component.name {
        case "@method": return request.method
        case "@target-uri": return "\(request.scheme)://\(request.rawAuthority)\(request.target)"
        case "@authority": return request.authority
        case "@scheme": return request.scheme
        case "@request-target": return request.target
        case "@path": return request.path
        case "@query": return "?" + (request.query ?? "")
        default: return nil
        }
    }

    private func structured(
        _ name: HTTPField.Name, _ value: String, _ kinds: [HTTPField.Name: StructuredFieldKind]
    ) -> String? {
        switch kinds[name] ?? StructuredFieldKind.known[name.canonicalName] {
        case .dictionary: StructuredText.dictionary(value).flatMap { StructuredText.serialized($0) }
        case .list: StructuredText.list(value).flatMap { StructuredText.serialized($0) }
        case .item: StructuredText.item(value).flatMap { StructuredText.serialized($0) }
        case nil: nil
        }
    }
}

extension SignableMessage: RedactedDescription {
    /// Whether it is a request or a response.
    public var description: String { status.map { "response \($0.code)" } ?? "request" }
}

/// The kind of a structured field, which its value alone does not show (RFC 9651 §4.2).
public enum StructuredFieldKind: Sendable, Hashable {
    /// Members with keys.
    case dictionary
    /// Members in order.
    case list
    /// One value.
    case item

    /// The structured fields that RFCs define.
    static let known: [String: StructuredFieldKind] = [
        "accept-ch": .list, "accept-signature": .dictionary, "cache-status": .list, "capsule-protocol": .item,
        "cdn-cache-control": .dictionary, "client-cert": .item, "client-cert-chain": .list,
        "content-digest": .dictionary, "cross-origin-embedder-policy": .item,
        "cross-origin-opener-policy": .item,
        "deprecation": .item, "no-vary-search": .dictionary, "origin-agent-cluster": .item,
        "permissions-policy": .dictionary, "priority": .dictionary, "proxy-status": .list,
        "ratelimit": .list, "ratelimit-policy": .list, "repr-digest": .dictionary, "sec-ch-ua": .list,
        "signature": .dictionary, "signature-agent": .item, "signature-input": .dictionary,
        "want-content-digest": .dictionary, "want-repr-digest": .dictionary,
    ]
}

/// The parts of a request's target, for signatures and for the proofs of ``DPoP``.
struct RequestTarget: Sendable {
    let method: String
    /// In lower case.
    let scheme: String
    /// Host and port as they are written.
    let rawAuthority: String
    /// The path as it is written, `/` if it is empty.
    let path: String
    /// The query without its question mark; `nil` without one.
    let query: String?

    init?(_ method: HTTPRequest.Method, _ url: String) {
        self.method = method.rawValue
        guard let colon = url.firstRange(of: "://") else { return nil }
        scheme = url[..<colon.lowerBound].lowercased()
        let rest = url[colon.upperBound...].utf8.prefix { $0 != UInt8(ascii: "#") }
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let afterUser = authority.lastIndex(of: UInt8(ascii: "@")).map {
            authority[authority.index(after: $0)...]
        }
        rawAuthority = String(Substring(afterUser ?? authority))
        guard !rawAuthority.isEmpty else { return nil }
        let target = rest[authority.endIndex...]
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        self.path = path.isEmpty ? "/" : String(Substring(path))
        query =
            path.endIndex == target.endIndex ? nil : String(Substring(target[path.endIndex...].dropFirst()))
    }

    init?(_ request: Request) { self.init(request.method, request.urlText) }

    /// Path and query.
    var target: String { path + (query.map { "?" + $0 } ?? "") }

    /// Host and port in lower case, without a default port.
    var authority: String {
        let text = rawAuthority.lowercased()
        let port = scheme == "https" ? ":443" : scheme == "http" ? ":80" : ""
        return !port.isEmpty && text.hasSuffix(port) ? String(text.dropLast(port.count)) : text
    }

    /// The escaped value of the parameter with an escaped name; `nil` if there is not exactly one.
    func parameter(_ name: String) -> String? {
        var found: String?
        for item in (query ?? "").split(separator: "&") {
            let sides = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard String(sides[0]).decodedFormText.escapedInQuery == name else { continue }
            guard found == nil else { return nil }
            found = sides.count > 1 ? String(sides[1]).decodedFormText.escapedInQuery : ""
        }
        return found
    }
}

extension String {
    /// Unescaped by the rules of `application/x-www-form-urlencoded`.
    fileprivate var decodedFormText: String {
        var bytes: [UInt8] = []
        var rest = utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let high = rest.first?.hexadecimalDigit,
                let low = rest.dropFirst().first?.hexadecimalDigit
            {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
#endif
