#if Auth
public import FoundationEssentials
import HTTPTypes
public import RxHTTP
import RxLite
import RxParameters

extension OAuth {
    /// The code by which a user logs in on another machine (RFC 8628 §3.2).
    public struct DeviceCode: Sendable {
        /// The code that the user enters.
        public var userCode: String
        /// The URL where the user enters the code.
        public var verificationURL: URL
        /// The URL with the code, for a QR code or a link; `nil` if the server has none.
        public var completeURL: URL?
        /// When the code expires.
        public var expires: Date
    }
}

extension OAuth.DeviceCode: RedactedDescription {
    /// The URL without the code, which lets anybody into the login.
    public var description: String { "device code for \(verificationURL.absoluteString.originAndPath)" }
}

/// A login by a device code.
struct DeviceLogin: Sendable {
    private let endpoint: OAuthEndpoint

    /// The default of the interval (RFC 8628 §3.2), its least, and what `slow_down` adds (§3.5), in seconds.
    private static let interval = (standard: 5.0, least: 1.0, step: 5.0)
    /// The longest that a code is waited for, whatever the server says, in seconds.
    private static let longestLife = 3600.0

    init(_ endpoint: OAuthEndpoint) { self.endpoint = endpoint }

    /// The response of the device authorization endpoint (RFC 8628 §3.2).
    struct Authorization: Sendable {
        let deviceCode: String
        let code: OAuth.DeviceCode
        let interval: Double

        init(_ json: JSONValue, at date: Date) throws(NetworkError) {
            guard let deviceCode = json["device_code"]?.text, deviceCode.isVisibleASCII,
                let userCode = json["user_code"]?.text, !userCode.isEmpty, userCode.utf8.count <= 256,
                userCode.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
                // Some servers write the name that a draft had.
                let address = (json["verification_uri"] ?? json["verification_url"])?.text,
                let url = OAuthURL(address), url.isSecure
            else {
                throw .oauthResponse(
                    "the device authorization endpoint answered without a device code, a user code and an https URL for "
                        + "it; check that its URL is right")
            }
            let complete = json["verification_uri_complete"]?.text.flatMap { OAuthURL($0) }
            let life = min(json["expires_in"]?.seconds ?? 600, DeviceLogin.longestLife)
            self.deviceCode = deviceCode
            code = OAuth.DeviceCode(
                userCode: userCode, verificationURL: url.url,
                completeURL: complete?.isSecure == true ? complete?.url : nil,
                expires: date.addingTimeInterval(life))
            interval = max(
                json["interval"]?.seconds ?? DeviceLogin.interval.standard, DeviceLogin.interval.least)
        }
    }

    func tokens(
        _ parameters: [(name: String, value: String)], _ show: @escaping @Sendable (OAuth.DeviceCode) -> Void
    ) -> Observable<OAuth.Tokens, NetworkError> {
        .deferred { [self] () throws(NetworkError) in
            let metadata = endpoint.server.metadata
            // By its name a client with a certificate gets another URL.
            let url = try metadata.endpoint(
                "device_authorization_endpoint", metadata.deviceAuthorizationEndpoint, for: endpoint.client)
            return endpoint.post(url, parameters, "the device authorization endpoint")
                .map { json throws(NetworkError) in try Authorization(json, at: endpoint.context.date) }
                .flatMap { authorization in
                    show(authorization.code)
                    return poll(authorization, authorization.interval)
                }
        }
    }

    /// Asks for the tokens after an interval, and again until the user has answered or the code has expired.
    private func poll(
        _ authorization: Authorization, _ interval: Double
    ) -> Observable<OAuth.Tokens, NetworkError> {
        .deferred { [self] () throws(NetworkError) in
            let context = endpoint.context
            guard context.date.addingTimeInterval(interval) <= authorization.code.expires else {
                throw NetworkError(
                    .oauthTimeout,
                    "the user has not entered the device code before it expired; start a new login")
            }
            let form = [
                ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
                ("device_code", authorization.deviceCode),
            ].map { (name: $0.0, value: $0.1) }
            return Observable<Void, NetworkError>.timer(.seconds(interval), on: context.scheduler)
                .flatMap { endpoint.tokens(form) }
                .catch { (error: NetworkError) -> Observable<OAuth.Tokens, NetworkError> in
                    switch Self.interval(after: error, interval) {
                    case let next?: poll(authorization, next)
                    case nil: .fail(error)
                    }
                }
        }
    }

    /// The next interval; `nil` if there is nothing to wait for.
    private static func interval(after error: NetworkError, _ interval: Double) -> Double? {
        switch error.envelopeCode {
        case "authorization_pending": return interval
        case "slow_down": return interval + Self.interval.step
        // A server that refuses its own nonce would do so until the code expires.
        case "use_dpop_nonce": return nil
        case let code:
            // "On encountering a connection timeout, clients MUST unilaterally reduce their polling frequency" (§3.5). The
            // same holds for a server that cannot answer now.
            let isPassing =
                error.code.recoveryOptions.contains(.reconnection) || error.code == .attemptTimeout
                || code.map(OAuthRefusal.transient.contains) ?? false
                || error.head.map { OAuthRefusal.isTransient($0.status) } ?? false
            return isPassing ? interval * 2 : nil
        }
    }
}
#endif
