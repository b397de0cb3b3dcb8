import FoundationEssentials
import HTTPTypes
import RxNetworking

#if Auth
import RxAuth

func signForAWS(_ configuration: inout ClientConfiguration) {
    configuration.signer = .aws(service: "s3", region: "eu-west-1", credentials: .environment)
}

func signForAnotherRegion(_ client: Client) -> Client {
    var configuration = client.configuration
    configuration.signer = .aws(service: "s3", region: "us-east-1", credentials: .environment)
    let archive = Client(configuration: configuration, transport: client.transport)
    return archive
}

func signForARole(_ configuration: inout ClientConfiguration) {
    configuration.signer = .aws(
        service: "dynamodb", region: "eu-west-1",
        credentials: .assumingRole(
            "arn:aws:iam::123456789012:role/reader", region: "eu-west-1", with: .environment))
}

private struct VaultKeys: Decodable {
    let id: String
    let secret: String
}

private struct VaultRequest: Endpoint {
    typealias Output = VaultKeys
    let path = "/keys"
    let method = HTTPRequest.Method.get
    let parameters = Parameters.none
}

func vaultCredentials(_ vault: Client) -> AWSCredentials {
    let credentials = AWSCredentials(named: "vault") { _ in
        vault.request(VaultRequest()).map { AWSCredential(accessKeyID: $0.id, secretAccessKey: $0.secret) }
    }
    return credentials
}

func link(_ client: Client, to key: String) throws -> URL {
    let link = try client.presigned(.get("/bucket/{key...}", at: ["key": key]), for: .seconds(900))
    return link
}

func signInsteadOfByHand(to key: String) throws -> URL {
    var configuration = ClientConfiguration(baseURL: "https://s3.eu-west-1.amazonaws.com")
    configuration.signer = .aws(service: "s3", region: "eu-west-1", credentials: .environment)
    let bucket = Client(configuration: configuration)
    let link = try bucket.presigned(.get("/bucket/{key...}", at: ["key": key]), for: .seconds(900))
    return link
}

func signMessages(_ configuration: inout ClientConfiguration, key: String) throws {
    configuration.signer = .messageSignature(key: try .pem(key), keyID: "client-1")
}

func signAsBot(_ configuration: inout ClientConfiguration, key: String) throws {
    configuration.signer = try .webBot(key: .pem(key), agent: "https://bot.example.com")
}

func signedComponents() -> [SignatureComponent] {
    let components: [SignatureComponent] = ["@method", "@authority", "content-digest", .query("page")]
    return components
}

func verifyResponse(_ response: Response, key: MessageVerifyingKey) throws -> MessageVerifier.Verified {
    let policy = MessageVerifier.Policy(requiring: [.status, .contentDigest])
    let verifier = MessageVerifier(policy) { $0.keyID == "server-1" ? key : nil }
    let signature = try verifier.verify(SignableMessage(response))
    return signature
}

func verifyWebhook(_ body: [UInt8], _ fields: HTTPFields) throws -> WebhookVerifier.Message {
    let webhooks = try WebhookVerifier.standard(secret: "whsec_…")
    let message = try webhooks.verify(body, headerFields: fields)
    return message
}
#endif

func signWithADatedKey(_ configuration: inout ClientConfiguration, key: String) {
    struct DatedKey: RequestSigner {
        let key: String

        func sign(_ request: Request, in context: SigningContext) -> Observable<Request, NetworkError> {
            var request = request
            request.headerFields[HTTPField.Name("X-Key")!] =
                "\(key) \(Int(context.date.timeIntervalSince1970))"
            return .just(request)
        }
    }
    configuration.signer = DatedKey(key: key)
}
