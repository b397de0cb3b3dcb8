import RxHTTP

/// The wrapper that a service puts around each payload, such as `{"errcode":200,"msg":"ok","data":…}`.
///
/// ```swift
/// Envelope(code: "errcode", message: "msg", payload: "data", success: 200)
/// Envelope(code: "ok", message: "message", payload: "result", success: true)
/// Envelope(
///     code: ["errcode", "code"], message: "error.text", payload: "result.data", success: [0, .range(200...299)],
///     loginExpired: [11010, "TOKEN_GONE"], noContent: 20404, retryLater: 50301, retryDelay: "error.seconds")
/// ```
///
/// A code is the same as a number, Bool or string. Other keys are ignored.
public struct Envelope: Sendable {
    /// The place of the code.
    public var code: Keys { didSet { lookup = paths } }
    /// The place of the server's message.
    public var message: Keys { didSet { lookup = paths } }
    /// The place of the payload; `""` for an envelope whose keys are beside those of the content.
    public var payload: Keys { didSet { lookup = paths } }
    /// The codes that mean success. All other codes are failures.
    public var success: Codes
    /// The failure codes that mean that the login has expired: their errors are of the kind `loginExpired`,
    /// and a session with ``SessionExpiry/unauthorized(envelopeCodes:)`` logs in again. Default: no codes.
    public var loginExpired: Codes
    /// The failure codes that mean that there is no content: their errors are of the kind `noContent`.
    /// Default: no codes.
    public var noContent: Codes
    /// The failure codes that ask to send the request again later: their errors are of the kind `retryLater`,
    /// after which retry policies try again if that is safe. Default: no codes.
    public var retryLater: Codes
    /// The place of the number of seconds to wait after such a failure, as a number or string. Default: no
    /// place.
    public var retryDelay: Keys { didSet { lookup = paths } }
    /// No envelope: the body is the content. For an endpoint whose client has an envelope.
    public static let absent: Envelope = {
        var envelope = Envelope()
        envelope.isAbsent = true
        return envelope
    }()
    private(set) var isAbsent = false

    /// All places, in the order of the keys above: computed once, not for each response.
    private(set) var lookup: [[String]] = []

    /// Creates an envelope from its keys and the meaning of its codes.
    public init(
        code: Keys = "code", message: Keys = "message", payload: Keys = "data", success: Codes = 0,
        loginExpired: Codes = [], noContent: Codes = [], retryLater: Codes = [], retryDelay: Keys = []
    ) {
        self.code = code
        self.message = message
        self.payload = payload
        self.success = success
        self.loginExpired = loginExpired
        self.noContent = noContent
        self.retryLater = retryLater
        self.retryDelay = retryDelay
        lookup = paths
    }

    private var paths: [[String]] {
        (code.paths + message.paths + payload.paths + retryDelay.paths).map(\.keys)
    }

    /// The kind of error that the sets above assign to a code; `nil` for none.
    func failure(_ code: String?) -> NetworkError.Code? {
        if loginExpired.includes(code) { return .loginExpired }
        if noContent.includes(code) { return .noContent }
        if retryLater.includes(code) { return .retryLater }
        return nil
    }
}
