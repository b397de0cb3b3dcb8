internal import FoundationEssentials
internal import HTTPTypes

extension Request {
    /// Everything that shapes what is sent and what comes of it, as one value: two requests of the same shape are the
    /// same request. A property that is added to it counts without further ado.
    package struct Shape: Sendable, Hashable {
        var method: HTTPRequest.Method
        var place: Place
        var headerFields: HTTPFields
        var body: Body
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
    /// Where a request goes; equal by the text.
    enum Place: Sendable, Hashable {
        case url(URL)
        case text(URLText)

        var text: String {
            switch self {
            case .url(let url): url.absoluteString
            case .text(let text): text.text
            }
        }

        static func == (first: Place, second: Place) -> Bool { first.text == second.text }

        func hash(into hasher: inout Hasher) { hasher.combine(text) }
    }
}
