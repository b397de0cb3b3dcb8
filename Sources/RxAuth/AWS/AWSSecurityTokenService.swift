#if Auth
import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxParameters

extension AWSCredentials {
    /// Temporary keys of a role, from the Security Token Service (`AssumeRole`).
    ///
    /// ```swift
    /// credentials: .assumingRole("arn:aws:iam::123456789012:role/reader", region: "eu-west-1", with: .environment)
    /// ```
    ///
    /// - Parameters:
    ///   - role: the ARN of the role.
    ///   - sessionName: the name of the session, which AWS records. Default `nil`: made from the time.
    ///   - externalID: the external id that the role requires, if any. Default `nil`.
    ///   - duration: how long the keys are valid. Default an hour.
    ///   - region: the region of the service.
    ///   - endpoint: the URL of the service. Default `nil`: that of the region.
    ///   - credentials: the keys that may assume the role.
    public static func assumingRole(
        _ role: String, sessionName: String? = nil, externalID: String? = nil,
        for duration: Duration = .seconds(3600),
        region: String, endpoint: String? = nil, with credentials: AWSCredentials
    ) -> AWSCredentials {
        let service = SecurityTokenService(region, endpoint)
        let signer = AWSSigner(service: "sts", region: region, credentials: credentials)
        return AWSCredentials(named: "role") { context in
            var parameters = [
                ("Action", "AssumeRole"), ("RoleArn", role),
                ("RoleSessionName", sessionName ?? SecurityTokenService.sessionName(context)),
                ("DurationSeconds", String(duration.components.seconds)),
            ]
            if let externalID { parameters.append(("ExternalId", externalID)) }
            return service.keys(parameters, signer, context)
        }
    }

    /// Temporary keys of a role for a token of an identity provider, from the Security Token Service
    /// (`AssumeRoleWithWebIdentity`).
    ///
    /// - Parameters:
    ///   - role: the ARN of the role.
    ///   - tokenFile: the path of the file with the token, which is read again for each renewal.
    ///   - sessionName: the name of the session, which AWS records. Default `nil`: made from the time.
    ///   - region: the region of the service.
    ///   - endpoint: the URL of the service. Default `nil`: that of the region.
    public static func webIdentity(
        role: String, tokenFile: String, sessionName: String? = nil, region: String, endpoint: String? = nil
    ) -> AWSCredentials {
        let service = SecurityTokenService(region, endpoint)
        return AWSCredentials(named: "web identity") { context in
            context.files.smallFile(tokenFile, limit: SecurityTokenService.tokenLimit)
                .mapError { .noCredentials("the token of the web identity cannot be read", because: $0) }
                .flatMap { bytes throws(NetworkError) -> Observable<AWSCredential, NetworkError> in
                    guard let bytes else {
                        throw NetworkError.noCredentials(
                            "the file with the token of the web identity does not exist")
                    }
                    return service.keys(
                        [
                            ("Action", "AssumeRoleWithWebIdentity"), ("RoleArn", role),
                            ("RoleSessionName", sessionName ?? SecurityTokenService.sessionName(context)),
                            ("WebIdentityToken", String(decoding: bytes, as: UTF8.self).trimmedLine),
                        ], nil, context)
                }
        }
    }

    /// The web identity in the environment of the process: `AWS_WEB_IDENTITY_TOKEN_FILE`, `AWS_ROLE_ARN`,
    /// `AWS_ROLE_SESSION_NAME`, and `AWS_REGION` or `AWS_DEFAULT_REGION`.
    public static var webIdentity: AWSCredentials { webIdentity(ProcessInfo.processInfo.environment) }

    static func webIdentity(_ variables: [String: String]) -> AWSCredentials {
        guard let file = variables.setting("AWS_WEB_IDENTITY_TOKEN_FILE"),
            let role = variables.setting("AWS_ROLE_ARN")
        else {
            return AWSCredentials(named: "web identity") { _ in
                .fail(
                    .noCredentials(
                        "AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN are not both set in the environment"))
            }
        }
        return webIdentity(
            role: role, tokenFile: file, sessionName: variables.setting("AWS_ROLE_SESSION_NAME"),
            region: variables.region())
    }
}

/// The Security Token Service of a region.
private struct SecurityTokenService: Sendable {
    let endpoint: String

    static let tokenLimit = 64 << 10

    init(_ region: String, _ endpoint: String?) {
        let domain = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
        self.endpoint = endpoint ?? "https://sts.\(region).\(domain)/"
    }

    static func sessionName(_ context: SigningContext) -> String {
        "RxNetworking-\(Int(context.scheduler.currentDate.timeIntervalSince1970))"
    }

    /// - Parameter signer: signs the request, unless its parameters authenticate it.
    func keys(
        _ parameters: [(name: String, value: String)], _ signer: AWSSigner?, _ context: SigningContext
    ) -> Observable<AWSCredential, NetworkError> {
        guard let url = URL(string: endpoint), Origin(url) != nil else {
            return .fail(.noCredentials("the address of the Security Token Service is not a URL"))
        }
        let form = ([("Version", "2011-06-15")] + parameters)
            .map { "\($0.0)=\($0.1.percentEncoded)" }.joined(separator: "&")
        var request = Request(
            method: .post, url: url,
            headerFields: [
                .contentType: "application/x-www-form-urlencoded", .accept: "application/xml",
            ],
            body: .text(form), bodyLimit: 256 << 10)
        // As the functions above name them; the values of all others may appear in logs.
        request.secretParameters = ["WebIdentityToken", "ExternalId"]
        var context = context
        context.date = context.scheduler.currentDate
        return send(request, signer, context).map { response throws(NetworkError) in
            try Self.credential(in: response)
        }
    }

    /// Sends the request, and once more if the clocks differ.
    private func send(
        _ request: Request, _ signer: AWSSigner?, _ context: SigningContext
    ) -> Observable<Response, NetworkError> {
        let signed = signer?.sign(request, in: context) ?? .just(request)
        return signed.flatMap { signed in
            context.transport.send(signed).response(to: signed)
                .mapError { .noCredentials("the Security Token Service does not answer", because: $0) }
                .flatMap { response -> Observable<Response, NetworkError> in
                    guard let signer, !context.isRepeated,
                        signer.receive(response.head, to: signed, in: context)
                    else { return .just(response) }
                    var context = context
                    context.isRepeated = true
                    return send(request, signer, context)
                }
        }
    }

    private static func credential(in response: Response) throws(NetworkError) -> AWSCredential {
        let document = AWSDocument(response.body)
        guard response.status == .ok else {
            let code = document.text(of: "Code").map { ": \($0)" } ?? ""
            throw .noCredentials(
                "the Security Token Service refused with status \(response.status.code)\(code)")
        }
        guard let id = document.text(of: "AccessKeyId"), let secret = document.text(of: "SecretAccessKey"),
            let token = document.text(of: "SessionToken"),
            let expires = document.text(of: "Expiration").flatMap({ Date(awsTimestamp: $0) })
        else { throw .noCredentials("the Security Token Service answered without keys") }
        return AWSCredential(accessKeyID: id, secretAccessKey: secret, sessionToken: token, expires: expires)
    }
}

/// The elements without children of an XML document from AWS, which has no attributes that matter, no comments within
/// texts and no sections.
struct AWSDocument {
    private var texts: [String: String] = [:]

    /// Reads a document. Malformed parts are skipped.
    init(_ bytes: [UInt8]) {
        var open: (name: ArraySlice<UInt8>, contentStart: Int)?
        var index = 0
        while index < bytes.count, let start = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
            guard let end = bytes[start...].firstIndex(of: UInt8(ascii: ">")) else { return }
            let tag = bytes[(start + 1)..<end]
            if tag.first == UInt8(ascii: "/") {
                if let open, open.name.elementsEqual(tag.dropFirst()) {
                    let name = String(decoding: open.name, as: UTF8.self)
                    if texts[name] == nil { texts[name] = Self.unescaped(bytes[open.contentStart..<start]) }
                }
                open = nil
            } else if tag.last != UInt8(ascii: "/"), tag.first != UInt8(ascii: "?"),
                tag.first != UInt8(ascii: "!")
            {
                open = (tag.prefix { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 }, end + 1)
            }
            index = end + 1
        }
    }

    /// The text of the first element of a name.
    func text(of name: String) -> String? { texts[name].flatMap { $0.isEmpty ? nil : $0 } }

    private static let entities: [(name: String, character: UInt8)] = [
        ("&amp;", UInt8(ascii: "&")), ("&lt;", UInt8(ascii: "<")), ("&gt;", UInt8(ascii: ">")),
        ("&quot;", UInt8(ascii: "\"")), ("&apos;", UInt8(ascii: "'")),
    ]

    private static func unescaped(_ bytes: ArraySlice<UInt8>) -> String {
        var plain: [UInt8] = []
        plain.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == UInt8(ascii: "&"),
                let entity = entities.first(where: { bytes[index...].starts(with: $0.name.utf8) })
            {
                plain.append(entity.character)
                index += entity.name.utf8.count
            } else {
                plain.append(byte)
                index += 1
            }
        }
        return String(decoding: plain, as: UTF8.self).trimmedLine
    }
}
#endif
