#if Auth
import FoundationEssentials
import HTTPTypes
import RxHTTP

/// The rules by which the requests to one service are signed, without state.
struct AWSSigningScheme: Sendable {
    let service: String
    let region: String
    let version: AWSSignatureVersion
    var pathRule: AWSCanonicalRequest.PathRule
    /// Whether the session token is covered by the signature. A few services require that it is not.
    var signsSessionToken = true
    /// Whether the hash of the content is sent in a field.
    var sendsPayloadHash: Bool

    static let unsignedPayload = "UNSIGNED-PAYLOAD"
    /// The SHA-256 digest of nothing.
    static let emptyPayload = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    init(service: String, region: String, version: AWSSignatureVersion) {
        self.service = service
        self.region = region
        self.version = version
        isS3 = Self.servicesLikeS3.contains(service)
        pathRule = isS3 ? .s3 : .standard
        sendsPayloadHash = isS3
    }

    /// The services that sign as S3 does. Others with such names, for example `s3tables`, sign as all services do.
    private static let servicesLikeS3: Set = ["s3", "s3-object-lambda", "s3-outposts", "s3express"]

    /// Whether the service is S3 or one with its rules.
    let isS3: Bool

    /// Adds the fields of a signature.
    ///
    /// - Parameter payload: the hash of the content, or the text that stands for it.
    /// - Returns: the signature.
    @discardableResult
    func sign(
        _ request: inout Request, payload: String, by credential: AWSCredential, at date: AWSDate,
        with key: AWSSigningKey
    ) throws(NetworkError) -> String {
        let target = try AWSTarget(of: request)
        var fields = request.headerFields
        fields.reserveCapacity(fields.count + 4)
        if fields.contains(.authorization) { fields[.authorization] = nil }
        fields.put(.amzDate, date.text)
        if signsSessionToken, let token = credential.sessionToken {
            fields.put(.amzSecurityToken, token)
        } else if fields.contains(.amzSecurityToken) {
            fields[.amzSecurityToken] = nil
        }
        if version == .v4a { fields.put(.amzRegionSet, region) }
        // No text that stands for a hash has its length; see ``AWSChunking/payload(_:hasTrailer:)``.
        let isHash = payload.utf8.count == 64
        if sendsPayloadHash || !isHash { fields.put(.amzContentSHA256, payload) }
        let canonical = AWSCanonicalRequest(
            method: request.method.rawValue, path: target.path.utf8, pathRule, query: target.query.utf8,
            AWSSignedFields(fields, host: target.host), payload: payload)
        let signature = try key.signature(of: key.stringToSign(date, canonical))
        if !signsSessionToken, let token = credential.sessionToken { fields.put(.amzSecurityToken, token) }
        var authorization: [UInt8] = []
        authorization.reserveCapacity(320)
        authorization += version.algorithm.utf8
        authorization += " Credential=".utf8
        authorization += credential.accessKeyID.utf8
        authorization.append(UInt8(ascii: "/"))
        authorization += key.scope.utf8
        authorization += ", SignedHeaders=".utf8
        authorization += canonical.signedNames
        authorization += ", Signature=".utf8
        authorization += signature.utf8
        fields.append(
            HTTPField(name: .authorization, value: String(decoding: authorization, as: UTF8.self)))
        request.headerFields = fields
        return signature
    }

    /// The query of a URL that carries its signature, with the query that the URL has already.
    ///
    /// - Parameters:
    ///   - fields: the header fields that must be sent with the request.
    ///   - expiry: how long the URL is valid, in seconds.
    func presignedQuery(
        _ method: String, _ target: AWSTarget, _ fields: HTTPFields, expiry: Int, payload: String,
        by credential: AWSCredential, at date: AWSDate, with key: AWSSigningKey
    ) throws(NetworkError) -> String {
        let fields = AWSSignedFields(fields, host: target.host)
        var pairs = [
            ("X-Amz-Algorithm", version.algorithm),
            ("X-Amz-Credential", "\(credential.accessKeyID)/\(key.scope)"), ("X-Amz-Date", date.text),
            ("X-Amz-Expires", String(expiry)), ("X-Amz-SignedHeaders", fields.names),
        ]
        if version == .v4a { pairs.append(("X-Amz-Region-Set", region)) }
        let token = credential.sessionToken.map { ("X-Amz-Security-Token", $0) }
        if signsSessionToken, let token { pairs.append(token) }
        var query = target.query.isEmpty ? "" : String(target.query) + "&"
        query += Self.escaped(pairs)
        let canonical = AWSCanonicalRequest(
            method: method, path: target.path.utf8, pathRule, query: query.utf8, fields, payload: payload)
        let signature = try key.signature(of: key.stringToSign(date, canonical))
        if !signsSessionToken, let token { query += "&" + Self.escaped([token]) }
        return query + "&X-Amz-Signature=\(signature)"
    }

    private static func escaped(_ pairs: [(name: String, value: String)]) -> String {
        var bytes: [UInt8] = []
        for (name, value) in pairs {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            for byte in name.utf8 { bytes.append(escaping: byte) }
            bytes.append(UInt8(ascii: "="))
            for byte in value.utf8 { bytes.append(escaping: byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The parts of a request's URL, as they are sent.
struct AWSTarget {
    /// The value of the `Host` field.
    let host: String
    let path: Substring
    /// The query without the question mark.
    let query: Substring

    init(host: String, path: Substring, query: Substring) {
        self.host = host
        self.path = path
        self.query = query
    }

    /// - Throws: `invalidURL` for a URL without a host.
    init(of request: Request) throws(NetworkError) {
        let text = request.urlText
        // An array, whose bytes are found several times as fast as those of a text.
        let bytes = Array(text.utf8)
        let slash = UInt8(ascii: "/")
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes.count > colon + 2,
            bytes[colon + 1] == slash, bytes[colon + 2] == slash
        else { throw Self.error(request) }
        let isDelimiter = { (byte: UInt8) in byte == slash || byte == 0x3F || byte == 0x23 }
        let authorityEnd = bytes[(colon + 3)...].firstIndex(where: isDelimiter) ?? bytes.endIndex
        var authority = bytes[(colon + 3)..<authorityEnd]
        if let sign = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[(sign + 1)...] }
        let defaultPort = colon == "https".utf8.count ? ":443".utf8 : ":80".utf8
        if authority.suffix(defaultPort.count).elementsEqual(defaultPort) {
            authority.removeLast(defaultPort.count)
        }
        guard !authority.isEmpty else { throw Self.error(request) }
        host = String(decoding: authority, as: UTF8.self)
        let end = bytes[authorityEnd...].firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let mark = bytes[authorityEnd..<end].firstIndex(of: UInt8(ascii: "?"))
        func part(_ start: Int, _ end: Int) -> Substring {
            let first = text.utf8.index(text.startIndex, offsetBy: start)
            return text[first..<text.utf8.index(first, offsetBy: end - start)]
        }
        path = part(authorityEnd, mark ?? end)
        query = mark.map { part($0 + 1, end) } ?? ""
    }

    private static func error(_ request: Request) -> NetworkError {
        NetworkError(.invalidURL, "the URL to sign has no host", request: request)
    }
}

extension HTTPFields {
    /// Sets a field, which is usually not there yet.
    fileprivate mutating func put(_ name: HTTPField.Name, _ value: String) {
        guard !contains(name) else { return self[name] = value }
        append(HTTPField(name: name, value: value))
    }
}

extension HTTPField.Name {
    static let amzDate = HTTPField.Name("X-Amz-Date")!
    static let amzSecurityToken = HTTPField.Name("X-Amz-Security-Token")!
    static let amzContentSHA256 = HTTPField.Name("X-Amz-Content-Sha256")!
    static let amzRegionSet = HTTPField.Name("X-Amz-Region-Set")!
    static let amzDecodedContentLength = HTTPField.Name("X-Amz-Decoded-Content-Length")!
    static let amzTrailer = HTTPField.Name("X-Amz-Trailer")!
}
#endif
