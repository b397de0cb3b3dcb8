import HTTPTypes
public import RxHTTP

/// Distinguishes an expired login from other failures.
public struct SessionExpiry: Sendable {
    let includes: @Sendable (NetworkError) -> Bool

    /// Detects an expired login by a rule.
    public static func when(_ includes: @escaping @Sendable (NetworkError) -> Bool) -> SessionExpiry {
        SessionExpiry(includes: includes)
    }

    /// Detects the status 401, the envelope's ``Envelope/loginExpired``, or one of these codes in the
    /// envelope.
    public static func unauthorized(envelopeCodes: Set<String> = []) -> SessionExpiry {
        when { error in
            if error.status?.code == 401 { return true }
            guard let code = error.envelopeCode else { return false }
            return error.code == .loginExpired || envelopeCodes.contains(code)
        }
    }
}
