#if Auth
public import FoundationEssentials
public import RxClient
public import RxHTTP
public import RxLite
import Synchronization

/// A source of AWS keys, which renews temporary keys before they expire.
///
/// ```swift
/// configuration.signer = .aws(service: "s3", region: "eu-west-1", credentials: .environment)
/// ```
///
/// Requests share one fetch: those that need keys while one runs wait for it. Keys are renewed five minutes before they
/// expire, or after half of a shorter life. If that fails, keys that are still valid stay in use. Copies share the keys.
///
/// Sources that ask a server use the client's transport. Their requests do not appear in the client's traffic. Errors
/// name the source and the remedy, with the code ``RxHTTP/NetworkError/Code/noCredentials``; they contain no key.
public struct AWSCredentials: Sendable {
    private let cache: AWSCredentialCache

    /// Creates a custom source.
    ///
    /// - Parameters:
    ///   - name: the name of the source in errors.
    ///   - fetch: fetches keys: one value, then completion. Subscribed to when there are none, and before they expire.
    public init(
        named name: String,
        fetch: @escaping @Sendable (SigningContext) -> Observable<AWSCredential, NetworkError>
    ) {
        cache = AWSCredentialCache(name, fetch)
    }

    private init(cache: AWSCredentialCache) { self.cache = cache }

    /// Keys that do not change.
    public static func fixed(_ credential: AWSCredential) -> AWSCredentials {
        let credentials = AWSCredentials(named: "fixed keys") { _ in .just(credential) }
        credentials.cache.hold(credential)
        return credentials
    }

    /// Keys that do not change.
    ///
    /// - Parameters:
    ///   - id: the id of the access key.
    ///   - secret: the secret of the access key.
    ///   - token: the session token of temporary keys. Default `nil`.
    public static func keys(id: String, secret: String, token: String? = nil) -> AWSCredentials {
        fixed(AWSCredential(accessKeyID: id, secretAccessKey: secret, sessionToken: token))
    }

    /// The keys in the environment of the process: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, for temporary keys,
    /// `AWS_SESSION_TOKEN`. They are read once, now.
    public static var environment: AWSCredentials { environment(ProcessInfo.processInfo.environment) }

    static func environment(_ variables: [String: String]) -> AWSCredentials {
        if let credential = AWSCredential(environment: variables) { return fixed(credential) }
        let missing = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].filter {
            variables.setting($0) == nil
        }
        return AWSCredentials(
            cache: AWSCredentialCache(
                lacking: "environment",
                .noCredentials(
                    "\(missing.joined(separator: " and ")) \(missing.count == 1 ? "is" : "are") not set in the "
                        + "environment; set the variables, or use another source of AWS keys")))
    }

    /// The first of these sources that is configured: the environment, a web identity, the profile of the user, the
    /// container; otherwise the instance.
    ///
    /// A source that is configured and fails is the error of the request, as in other SDKs: the keys of the next one would
    /// be those of another role. That is so if the Security Token Service refuses, if the profile in `AWS_PROFILE` does not
    /// exist, and for a profile whose keys this library cannot get. A source that has had keys stays in use.
    public static var standard: AWSCredentials { standard(ProcessInfo.processInfo.environment) }

    static func standard(_ variables: [String: String]) -> AWSCredentials {
        // An id without a secret is a mistake, as in botocore; a secret alone is not a source.
        guard variables.setting("AWS_ACCESS_KEY_ID") == nil else { return environment(variables) }
        let instance = instance(variables).mapError { cause in
            .noCredentials(
                "none of these has AWS keys: the environment, a web identity, the profile, the container, the instance",
                because: cause)
        }
        let chosen = ChosenSource()
        return AWSCredentials(named: "standard chain") { context in
            if let source = chosen.source { return source.credential(in: context) }
            return configured(variables, context).flatMap {
                source -> Observable<AWSCredential, NetworkError> in
                let source = source ?? instance
                return source.credential(in: context).handleEvents(onNext: { _ in chosen.choose(source) })
            }
        }
    }

    /// The first source of the standard chain that is configured; `nil` if only the instance can have keys.
    private static func configured(
        _ variables: [String: String], _ context: SigningContext
    ) -> Observable<AWSCredentials?, NetworkError> {
        if variables.setting("AWS_WEB_IDENTITY_TOKEN_FILE") != nil { return .just(webIdentity(variables)) }
        return AWSProfiles.read(variables, context.files).map { profiles throws(NetworkError) in
            try profiles.configuredSource(variables)
                ?? (variables.namesContainer ? container(variables) : nil)
        }
    }

    /// The same keys, whose lack is described in another way.
    private func mapError(
        _ change: @escaping @Sendable (NetworkError) -> NetworkError
    ) -> AWSCredentials {
        AWSCredentials(named: cache.name) { context in credential(in: context).mapError(change) }
    }

    /// The cached keys, if they need no renewal at `date`.
    func current(at date: Date) -> AWSCredential? { cache.current(at: date) }

    /// The error of a source that never has keys; `nil` if a fetch can get some.
    var absence: NetworkError? { cache.absence }

    /// Valid keys: one value, then completion.
    public func credential(in context: SigningContext) -> Observable<AWSCredential, NetworkError> {
        .deferred { [cache] in cache.credential(in: context) }
    }
}

extension AWSCredentials: RedactedDescription {
    /// The name of the source; never a key.
    public var description: String { "AWS credentials: \(cache.name)" }
}

/// Keys of an AWS account or role, by which requests are signed.
public struct AWSCredential: Sendable, Hashable {
    /// The id of the access key, which each signature names.
    public var accessKeyID: String
    /// The secret of the access key. It is never sent.
    public var secretAccessKey: String
    /// The session token of temporary keys, which is sent with each request; `nil` for permanent keys.
    public var sessionToken: String?
    /// When the keys expire; `nil` if they do not, or if that is unknown.
    public var expires: Date?

    /// Creates a credential.
    public init(
        accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil, expires: Date? = nil
    ) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
        self.expires = expires
    }
}

extension AWSCredential: RedactedDescription {
    /// Whether the keys are temporary; never a key.
    public var description: String { sessionToken == nil ? "permanent AWS keys" : "temporary AWS keys" }
}

/// The source that a chain has chosen.
final class ChosenSource: Sendable {
    private let choice = Mutex<AWSCredentials?>(nil)

    var source: AWSCredentials? { choice.withLock { $0 } }

    func choose(_ source: AWSCredentials) { choice.withLock { $0 = $0 ?? source } }
}

/// The keys of one source, and the fetch that renews them.
final class AWSCredentialCache: Sendable {
    let name: String
    /// The error of a source that never has keys.
    let absence: NetworkError?
    private let fetch: @Sendable (SigningContext) -> Observable<AWSCredential, NetworkError>
    private let state = Mutex(State())

    private struct State {
        var credential: AWSCredential?
        /// When the keys are renewed; `nil` for never.
        var renewal: Date?
        /// The running fetch, which later requests join, as in ``ProviderSource`` and ``KeySetCache``.
        var running: (number: Int, stream: Observable<AWSCredential, NetworkError>)?
        /// The number of the fetch that began last.
        var lastNumber = 0
    }

    /// How long before their expiry keys are renewed, in seconds: the five minutes in the documentation of
    /// ``AWSCredentials``.
    private static let advance: TimeInterval = 300

    init(
        _ name: String,
        _ fetch: @escaping @Sendable (SigningContext) -> Observable<AWSCredential, NetworkError>
    ) {
        self.name = name
        self.fetch = fetch
        absence = nil
    }

    /// A source that is known to have no keys.
    init(lacking name: String, _ error: NetworkError) {
        self.name = name
        fetch = { _ in .fail(error) }
        absence = error
    }

    /// Holds keys that are never renewed.
    func hold(_ credential: AWSCredential) {
        state.withLock { $0.credential = credential }
    }

    func current(at date: Date) -> AWSCredential? {
        state.withLock { state in
            guard let credential = state.credential else { return nil }
            if let renewal = state.renewal, renewal <= date { return nil }
            return credential
        }
    }

    func credential(in context: SigningContext) -> Observable<AWSCredential, NetworkError> {
        if let credential = current(at: context.scheduler.currentDate) { return .just(credential) }
        return state.withLock { state in
            if let running = state.running { return running.stream }
            state.lastNumber += 1
            let number = state.lastNumber
            // Deferred, so that the app's closure does not run inside the lock.
            let stream = Observable<AWSCredential, NetworkError>.deferred { [fetch] in fetch(context) }
                .map { credential throws(NetworkError) in
                    try credential.checked(at: context.scheduler.currentDate)
                }
                .handleEvents(onNext: { self.receive($0, at: context.scheduler.currentDate) })
                .catch { (error: NetworkError) -> Observable<AWSCredential, NetworkError> in
                    self.valid(at: context.scheduler.currentDate).map { .just($0) } ?? .fail(error)
                }
                .handleEvents(onEnd: { _ in self.forget(number) }, onCancel: { self.forget(number) })
                // Who got the stream before it ended, and subscribes later, still gets its value.
                .share(replay: 1, reset: .unused)
            state.running = (number, stream)
            return stream
        }
    }

    private func receive(_ credential: AWSCredential, at date: Date) {
        state.withLock { state in
            state.credential = credential
            state.renewal = credential.expires.map { expires in
                expires - min(Self.advance, max(0, expires.timeIntervalSince(date)) / 2)
            }
        }
    }

    /// The keys whose renewal has failed, if they have not expired yet. Keys without an expiry are never renewed.
    private func valid(at date: Date) -> AWSCredential? {
        state.withLock { state in
            guard let credential = state.credential, let expires = credential.expires, expires > date else {
                return nil
            }
            return credential
        }
    }

    /// Forgets a fetch that has ended or was cancelled, so that later requests fetch again.
    private func forget(_ number: Int) {
        state.withLock { state in
            if state.running?.number == number { state.running = nil }
        }
    }
}

extension AWSCredential {
    /// The keys in the environment; `nil` if they are not both there.
    init?(environment: [String: String]) {
        guard let id = environment.setting("AWS_ACCESS_KEY_ID"),
            let secret = environment.setting("AWS_SECRET_ACCESS_KEY")
        else { return nil }
        self.init(
            accessKeyID: id, secretAccessKey: secret, sessionToken: environment.setting("AWS_SESSION_TOKEN"))
    }

    /// - Throws: `noCredentials` for keys that have expired already, or that no header field can carry.
    fileprivate func checked(at date: Date) throws(NetworkError) -> AWSCredential {
        if let expires, expires <= date {
            throw .noCredentials("the source of the AWS keys sent keys that have expired; check the clock")
        }
        let isPlain = { (text: String) in text.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
        guard !accessKeyID.isEmpty, !secretAccessKey.isEmpty, isPlain(accessKeyID),
            isPlain(sessionToken ?? "")
        else { throw .noCredentials("the source of the AWS keys sent keys that are empty or malformed") }
        return self
    }
}

extension [String: String] {
    /// A variable of an environment; `nil` for an empty one as well.
    func setting(_ name: String) -> String? { self[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The region whose Security Token Service is asked. The variables of the environment replace the setting of a profile
    /// (https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-envvars.html).
    func region(_ profile: [String: String] = [:]) -> String {
        setting("AWS_REGION") ?? setting("AWS_DEFAULT_REGION") ?? profile.setting("region") ?? "us-east-1"
    }
}

extension NetworkError.Code {
    /// The source of a signer's keys has none, or the request for them failed.
    public static let noCredentials = NetworkError.Code(rawValue: "noCredentials")
}

extension NetworkError {
    static func noCredentials(_ message: String, because cause: NetworkError? = nil) -> NetworkError {
        var error = NetworkError(.noCredentials, message)
        error.cause = cause
        return error
    }
}
#endif
