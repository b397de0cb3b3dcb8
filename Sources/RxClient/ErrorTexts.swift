public import RxHTTP

/// The texts that an app shows for failures: by kind, the server's own, or a general one.
///
/// ```swift
/// configuration.errorTexts[.loginExpired] = "Your session has ended. Please log in again."
/// client.errorTips.subscribe { error in toast.show(client.text(for: error)) }
/// ```
///
/// The text of a failure is that of its kind in the table. A kind without an entry has the server's text
/// (``NetworkError/serverMessage``), and without one ``fallback``. So the table needs no entry for kinds that the
/// server explains, such as `envelope` and `status`.
public struct ErrorTexts: Sendable, Hashable {
    /// The texts by kind.
    public var texts: [NetworkError.Code: String]
    /// The text of a failure that neither the table nor the server explains.
    public var fallback: String

    /// Creates a table.
    public init(_ texts: [NetworkError.Code: String], fallback: String) {
        self.texts = texts
        self.fallback = fallback
    }

    /// The text of a kind; `nil` leaves it to the server.
    public subscript(code: NetworkError.Code) -> String? {
        get { texts[code] }
        set { texts[code] = newValue }
    }

    /// Sets one text for several kinds.
    public mutating func set(_ text: String, for codes: some Sequence<NetworkError.Code>) {
        for code in codes { texts[code] = text }
    }

    /// The text to show for a failure.
    public func text(for error: NetworkError) -> String {
        if let text = texts[error.code] { return text }
        guard let text = error.serverMessage, !text.isEmpty else { return fallback }
        return text
    }

    /// English texts for a missing network, an unreachable server, a timeout and an expired login.
    public static let english: ErrorTexts = {
        var texts = ErrorTexts([:], fallback: "The request failed.")
        texts.set("The request timed out.", for: NetworkError.Code.timeouts)
        texts.set("There is no network connection.", for: [.unreachable])
        texts.set(
            "The server could not be reached.",
            for: [.resolve, .connect, .proxy, .tls, .connectionLost, .emptyReply, .circuitOpen])
        texts.set("The login has expired.", for: [.loginExpired])
        texts.set("The request was cancelled.", for: [.cancelled])
        return texts
    }()
}

extension NetworkError.Code {
    /// The kinds of failure that mean that a time limit has passed (``Timeouts``).
    public static let timeouts: Set<NetworkError.Code> = [
        // Codes are open-ended: that of a new time limit must be added here.
        .queueTimeout, .connectTimeout, .firstByteTimeout, .idleTimeout, .attemptTimeout, .totalTimeout,
    ]
}

extension Client {
    /// The text to show for a failure, from ``ClientConfiguration/errorTexts``.
    public func text(for error: NetworkError) -> String { configuration.errorTexts.text(for: error) }
}
