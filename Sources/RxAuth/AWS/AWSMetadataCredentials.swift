#if Auth
import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxParameters

extension AWSCredentials {
    /// The keys of the role of an EC2 instance, from its metadata service (version 2, with a session token).
    ///
    /// `AWS_EC2_METADATA_SERVICE_ENDPOINT` sets another address than `http://169.254.169.254`, and
    /// `AWS_EC2_METADATA_DISABLED=true` turns the source off.
    public static var instance: AWSCredentials { instance(ProcessInfo.processInfo.environment) }

    static func instance(_ variables: [String: String]) -> AWSCredentials {
        let isDisabled = variables["AWS_EC2_METADATA_DISABLED"]?.lowercased() == "true"
        let usesIPv6 = variables["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"]?.lowercased() == "ipv6"
        let endpoint =
            variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"]
            ?? (usesIPv6 ? "http://[fd00:ec2::254]" : "http://169.254.169.254")
        return AWSCredentials(named: "instance") { context in
            guard !isDisabled else {
                return .fail(.noCredentials("AWS_EC2_METADATA_DISABLED turns the instance's metadata off"))
            }
            return InstanceMetadata(endpoint, context).credential
        }
    }

    /// The keys of the role of a container in ECS or EKS, from the address in
    /// `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI` or `AWS_CONTAINER_CREDENTIALS_FULL_URI`.
    ///
    /// The full address must use https, or be one of the local addresses of ECS, EKS and this machine. The token in the
    /// file that `AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE` names, or in `AWS_CONTAINER_AUTHORIZATION_TOKEN`, goes into
    /// the `Authorization` field.
    public static var container: AWSCredentials { container(ProcessInfo.processInfo.environment) }

    static func container(_ variables: [String: String]) -> AWSCredentials {
        AWSCredentials(named: "container") { context in
            .deferred { () throws(NetworkError) in
                try ContainerMetadata(variables, context).credential
            }
        }
    }
}

extension [String: String] {
    /// Whether an environment names the credentials of a container.
    var namesContainer: Bool {
        ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"].contains {
            setting($0) != nil
        }
    }
}

/// The metadata service of an instance.
private struct InstanceMetadata {
    let credential: Observable<AWSCredential, NetworkError>

    private static let roles = "/latest/meta-data/iam/security-credentials/"

    init(_ endpoint: String, _ context: SigningContext) {
        let base = endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint
        let name = "the instance's metadata service"
        let token = MetadataRequest(
            name, .put, base + "/latest/api/token", [.ec2TokenTTL: "21600"], context)
        credential = token.text.flatMap { token in
            MetadataRequest(name, .get, base + Self.roles, [.ec2Token: token], context).text
                .flatMap { roles throws(NetworkError) -> Observable<AWSCredential, NetworkError> in
                    guard let role = roles.split(whereSeparator: \.isNewline).first, !role.isEmpty else {
                        throw NetworkError.noCredentials("the instance has no role")
                    }
                    let path = Self.roles + String(role).percentEncoded
                    return MetadataRequest(name, .get, base + path, [.ec2Token: token], context).credential
                }
        }
    }
}

/// The metadata service of a container.
private struct ContainerMetadata {
    let credential: Observable<AWSCredential, NetworkError>

    /// The local addresses of ECS, EKS and this machine, which may get the token without TLS.
    private static let localHosts: Set<String> = [
        "localhost", "127.0.0.1", "[::1]", "::1", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]",
        "fd00:ec2::23",
    ]
    private static let tokenLimit = 64 << 10

    init(_ variables: [String: String], _ context: SigningContext) throws(NetworkError) {
        let address: String
        if let path = variables.setting("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            guard path.hasPrefix("/") else {
                throw .noCredentials("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI does not begin with a slash")
            }
            address = "http://169.254.170.2" + path
        } else if let full = variables.setting("AWS_CONTAINER_CREDENTIALS_FULL_URI") {
            guard let origin = URL(string: full).flatMap({ Origin($0) }),
                origin.scheme == "https" || Self.localHosts.contains(origin.host)
            else {
                throw .noCredentials(
                    "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither an https URL nor one of a local address")
            }
            address = full
        } else {
            throw .noCredentials("the environment names no credentials of a container")
        }
        guard let file = variables.setting("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") else {
            credential = try Self.credential(
                at: address, variables.setting("AWS_CONTAINER_AUTHORIZATION_TOKEN"), context)
            return
        }
        credential = context.files.smallFile(file, limit: Self.tokenLimit).flatMap {
            bytes throws(NetworkError) -> Observable<AWSCredential, NetworkError> in
            guard let bytes else {
                throw NetworkError.noCredentials(
                    "the file in AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE does not exist")
            }
            return try Self.credential(
                at: address, String(decoding: bytes, as: UTF8.self).trimmedLine, context)
        }
    }
}

extension ContainerMetadata {
    private static func credential(
        at address: String, _ token: String?, _ context: SigningContext
    ) throws(NetworkError) -> Observable<AWSCredential, NetworkError> {
        var fields: HTTPFields = [:]
        if let token {
            guard HTTPField.isValidValue(token) else {
                throw .noCredentials("the container's authorization token is malformed")
            }
            fields[.authorization] = token
        }
        return MetadataRequest("the container's metadata service", .get, address, fields, context).credential
    }
}

/// A request to a metadata service, which answers at once or is not there.
private struct MetadataRequest {
    private let name: String
    private let response: Observable<Response, NetworkError>

    init(
        _ name: String, _ method: HTTPRequest.Method, _ address: String, _ fields: HTTPFields,
        _ context: SigningContext
    ) {
        self.name = name
        guard let url = URL(string: address) else {
            response = .fail(.noCredentials("the address of \(name) is not a URL"))
            return
        }
        var request = Request(
            method: method, url: url, headerFields: fields,
            timeouts: Timeouts(
                queue: nil, connect: .seconds(1), firstByte: .seconds(2), idle: .seconds(2),
                attempt: .seconds(5)),
            bodyLimit: 64 << 10)
        request.secretFields = Set(fields.map(\.name))
        response = context.transport.send(request).response(to: request)
            .mapError { .noCredentials("\(name) does not answer", because: $0) }
    }

    /// The content of a successful response.
    var content: Observable<[UInt8], NetworkError> {
        response.map { [name] response throws(NetworkError) in
            guard response.status == .ok else {
                throw NetworkError.noCredentials("\(name) answered with status \(response.status.code)")
            }
            return response.body
        }
    }

    var text: Observable<String, NetworkError> {
        content.map { [name] bytes throws(NetworkError) in
            let text = String(decoding: bytes, as: UTF8.self).trimmedLine
            guard !text.isEmpty, HTTPField.isValidValue(text) || text.contains(where: \.isNewline) else {
                throw NetworkError.noCredentials("\(name) answered with malformed content")
            }
            return text
        }
    }

    var credential: Observable<AWSCredential, NetworkError> {
        content.map { [name] bytes throws(NetworkError) in
            try AWSCredential(metadata: bytes, from: name)
        }
    }
}

extension AWSCredential {
    private struct Document: Decodable {
        var code: String?
        var accessKeyId: String?
        var secretAccessKey: String?
        var token: String?
        var expiration: String?

        enum CodingKeys: String, CodingKey {
            case code = "Code"
            case accessKeyId = "AccessKeyId"
            case secretAccessKey = "SecretAccessKey"
            case token = "Token"
            case expiration = "Expiration"
        }
    }

    /// Reads the document of a metadata service.
    init(metadata bytes: [UInt8], from name: String) throws(NetworkError) {
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(bytes)) else {
            throw .noCredentials("\(name) answered with content that is not its JSON")
        }
        guard document.code == nil || document.code == "Success", let id = document.accessKeyId,
            let secret = document.secretAccessKey
        else { throw .noCredentials("\(name) answered without keys") }
        var expires: Date?
        if let text = document.expiration {
            guard let date = Date(awsTimestamp: text) else {
                throw .noCredentials("\(name) answered with an expiry date that is malformed")
            }
            expires = date
        }
        self.init(accessKeyID: id, secretAccessKey: secret, sessionToken: document.token, expires: expires)
    }
}

extension Date {
    /// A timestamp of RFC 3339, such as `2026-11-27T12:00:00Z`, with or without a fraction.
    init?(awsTimestamp text: String) {
        let bytes = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int? {
            guard range.upperBound <= bytes.count else { return nil }
            var value = 0
            for byte in bytes[range] {
                guard (0x30...0x39).contains(byte) else { return nil }
                value = value * 10 + Int(byte - 0x30)
            }
            return value
        }
        guard bytes.count >= 20, bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] | 0x20 == 0x74,
            bytes[13] == 0x3A,
            bytes[16] == 0x3A, let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            let date = Date(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        else { return nil }
        var index = 19
        if bytes[index] == 0x2E {
            index += 1
            let start = index
            while index < bytes.count, (0x30...0x39).contains(bytes[index]) { index += 1 }
            guard index > start else { return nil }
        }
        guard index < bytes.count else { return nil }
        if bytes[index] | 0x20 == 0x7A {
            guard index == bytes.count - 1 else { return nil }
            self = date
            return
        }
        guard bytes.count == index + 6, bytes[index] == 0x2B || bytes[index] == 0x2D,
            bytes[index + 3] == 0x3A,
            let hours = number((index + 1)..<(index + 3)), let minutes = number((index + 4)..<(index + 6)),
            hours < 24, minutes < 60
        else { return nil }
        let offset = TimeInterval(hours * 3600 + minutes * 60)
        self = date.addingTimeInterval(bytes[index] == 0x2B ? -offset : offset)
    }
}

extension String {
    /// The text without white space at its ends.
    var trimmedLine: String {
        let isBlank = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        let bytes = utf8.drop(while: isBlank)
        guard let last = bytes.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(Substring(bytes[...last]))
    }
}

extension FileSystem {
    /// The content of a small file, which may be reached by a symbolic link; `nil` if it does not exist.
    func smallFile(_ path: String, limit: Int) -> Observable<[UInt8]?, NetworkError> {
        status(of: path).flatMap { status throws(NetworkError) -> Observable<[UInt8]?, NetworkError> in
            guard let status else { return .just(nil) }
            guard status.size <= limit else {
                throw NetworkError(.tooLarge, "the file \(path) has more than \(limit) bytes")
            }
            return self.read(path, from: 0, count: Int64(limit), expecting: nil)
                .reduce([UInt8]()) { $0 + $1 }.map { $0 }
        }
    }
}

extension HTTPField.Name {
    fileprivate static let ec2TokenTTL = HTTPField.Name("X-aws-ec2-metadata-token-ttl-seconds")!
    fileprivate static let ec2Token = HTTPField.Name("X-aws-ec2-metadata-token")!
}
#endif
