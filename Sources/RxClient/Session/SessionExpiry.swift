import HTTPTypes
public import RxHTTP

/// Tells an expired login from other failures.
public struct SessionExpiry: Sendable {
    let includes: @Sendable (NetworkError) -> Bool

    /// By a rule.
    public static func when(_ includes: @escaping @Sendable (NetworkError) -> Bool) -> SessionExpiry {
        SessionExpiry(includes: includes)
    }

    /// The status 401, what the envelope calls ``Envelope/loginExpired``, or one of these codes in the envelope.
    public static func unauthorized(envelopeCodes: Set<String> = []) -> SessionExpiry {
        when { error in
            if error.status?.code == 401 { return true }
            guard let code = error.envelopeCode else { return false }
            return error.code == .loginExpired || envelopeCodes.contains(code)
        }
    }
}
