import RxHTTP

/// The wrapping that many servers put around every response, such as `{"errcode":200,"msg":"ok","data":…}`.
///
/// ```swift
/// Envelope(code: "errcode", message: "msg", payload: "data", success: 200)
/// Envelope(code: "ok", message: "message", payload: "result", success: true)
/// Envelope(
///     code: ["errcode", "code"], message: "error.text", payload: "result.data", success: [0, .range(200...299)],
///     loginExpired: [11010, "TOKEN_GONE"], noContent: 20404, retryLater: 50301, retryDelay: "error.seconds")
/// ```
///
/// A code counts the same as number, Bool or string. Other keys are ignored.
public struct Envelope: Sendable {
    /// Where the code is.
    public var code: Keys { didSet { lookup = paths } }
    /// Where the server's message is.
    public var message: Keys { didSet { lookup = paths } }
    /// The place of the content; `""` for an envelope whose keys are among those of the content.
    public var payload: Keys { didSet { lookup = paths } }
    /// Which codes mean success. All others are failures.
    public var success: Codes
    /// Which failures mean that the login has expired: they are of the kind `loginExpired`, and a session that goes by
    /// ``SessionExpiry/unauthorized(envelopeCodes:)`` logs in again. Default none.
    public var loginExpired: Codes
    /// The codes of failures that mean no content: they are of the kind `noContent`. Default none.
    public var noContent: Codes
    /// Which failures mean that the request is to be sent again later: they are of the kind `retryLater`, which retry
    /// policies try again where that is safe. Default none.
    public var retryLater: Codes
    /// Where such a failure says how many seconds to wait, as number or string. Default nowhere.
    public var retryDelay: Keys { didSet { lookup = paths } }
    /// No envelope: the body is the content. For an endpoint of a client that has one.
    public static let absent: Envelope = {
        var envelope = Envelope()
        envelope.isAbsent = true
        return envelope
    }()
    private(set) var isAbsent = false

    /// All places, in the order of the keys above: made once, and not for each response.
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

    /// What kind of failure a code is.
    func failure(_ code: String?) -> NetworkError.Code? {
        if loginExpired.includes(code) { return .loginExpired }
        if noContent.includes(code) { return .noContent }
        if retryLater.includes(code) { return .retryLater }
        return nil
    }
}
