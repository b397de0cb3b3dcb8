internal import FoundationEssentials
internal import HTTPTypes

extension Request {
    /// Everything that determines what is sent and how its response is handled, as one value: two requests of
    /// the same shape are the same request. A new property is compared automatically.
    package struct Shape: Sendable, Hashable {
        var method: HTTPRequest.Method
        var place: Place
        var headerFields: HTTPFields
        var body: Body
        var upgrade: ProtocolUpgrade?
        var compression = Compression.identity
        var decodesContent = true
        var continuePolicy = ContinuePolicy.never
        var timeouts: Timeouts
        var bodyLimit: Int
        var secretFields: Set<HTTPField.Name> = []
        var secretParameters: Set<String> = []
        var credentialVersion: CredentialVersion?
        var digest: Authentication.Digest?
        var secretAdditions: SecretAdditions?
        var isCredentialFree = false
        var isDeclaredIdempotent = false
        var isDeclaredSafe = false
        var canStartOver = true
    }
}

extension Request.Shape {
    /// The target of a request; compared as text.
    enum Place: Sendable, Hashable {
        case url(URL)
        case text(URLText)
        /// A text that `URL` cannot hold, and the URL closest to it.
        case sent(String, URL)

        var text: String {
            switch self {
            case .url(let url): url.absoluteString
            case .text(let text): text.text
            case .sent(let text, _): text
            }
        }

        static func == (first: Place, second: Place) -> Bool { first.text == second.text }

        func hash(into hasher: inout Hasher) { hasher.combine(text) }
    }
}
