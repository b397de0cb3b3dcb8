#if Fleet
import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP

/// The content of a shared credential's entry: the credential, its version, and a renewal that has begun.
///
/// Stored sealed, as JSON: a new property needs a CodingKey and must be optional, because entries of older releases lack
/// it. The writer is ``SharedCredential``.
struct CredentialRecord: Sendable, Equatable {
    /// Counts the credentials and logouts of the fleet.
    var version: UInt64
    /// `nil` after a logout.
    var credential: Credential?
    /// The number of the attempt that may have sent the refresh token, if its response has not been saved.
    var renewalAttempt: UInt64?

    /// The record after a change that gives the fleet a credential, or none.
    func following(with credential: Credential?, after seen: UInt64) -> CredentialRecord {
        CredentialRecord(version: max(version, seen) + 1, credential: credential)
    }

    /// How to proceed with a renewal of the credential, by the attempt with this number.
    func renewal(by attempt: UInt64) -> Renewal {
        guard renewalAttempt == nil else { return .lost }
        var record = self
        record.renewalAttempt = attempt
        return .begin(record)
    }

    /// The record after an attempt that the server has refused, or that has sent nothing; `nil` if it is not that attempt's.
    func settled(by attempt: UInt64) -> CredentialRecord? {
        guard renewalAttempt == attempt else { return nil }
        var record = self
        record.renewalAttempt = nil
        return record
    }

    /// A decision about a renewal.
    enum Renewal: Equatable {
        /// The refresh token may be sent once this record is in the store.
        case begin(CredentialRecord)
        /// The refresh token may have been sent, and the server may have replaced it: a second use would revoke all
        /// tokens of the login (RFC 9700 §4.14.2).
        case lost
    }
}

extension CredentialRecord: Codable {
    // The names in the store, which other releases read.
    private enum CodingKeys: String, CodingKey {
        case version, credential
        case renewalAttempt = "renewing"
    }

    init(bytes: [UInt8], at entryName: String) throws(NetworkError) {
        do { self = try JSONDecoder().decode(CredentialRecord.self, from: Data(bytes)) } catch {
            throw NetworkError(.corruptEntry, "the entry \(entryName) is not a credential")
        }
        // A larger one could not be followed by another.
        guard version < UInt64(Int64.max) else {
            throw NetworkError(.corruptEntry, "the entry \(entryName) has an impossible version")
        }
    }

    func bytes() throws(NetworkError) -> [UInt8] {
        do { return Array(try JSONEncoder().encode(self)) } catch {
            throw NetworkError(.corruptEntry, "the credential cannot be encoded: \(error)")
        }
    }
}

extension CredentialRecord: RedactedDescription {
    /// The version, without the tokens.
    var description: String {
        let state = credential == nil ? "logged out" : renewalAttempt == nil ? "credential" : "renewing"
        return "\(state), version \(version)"
    }
}

/// Whether a refresh token that has been sent may be sent again.
enum RenewalOutcome {
    /// The server has answered, or nothing was sent: it has not replaced the token.
    case definite
    /// No answer: the server may have replaced the token.
    case ambiguous

    init(of error: NetworkError) {
        self = error.isUnsent || Self.answers(error) ? .definite : .ambiguous
    }

    /// Whether the error is one of an answer, or one that occurs only before a request is sent. A code that may also
    /// mean anything else must stay out: the refresh token would be sent twice.
    private static func answers(_ error: NetworkError) -> Bool {
        switch error.code {
        case .envelope, .loginExpired, .unreachable, .circuitOpen, .resolve, .connect, .connectTimeout,
            .queueTimeout, .tls:
            true
        // The code may be that of a protocol, such as OAuth.
        default: error.status.map { refuses($0.code, isNamed: error.envelopeCode != nil) } ?? false
        }
    }

    /// Whether a server that answers with a status has not issued a credential.
    ///
    /// - Parameter isNamed: whether the answer has an error code, which some servers send with status 200.
    private static func refuses(_ status: Int, isNamed: Bool) -> Bool {
        // A gateway that fails does not know what the server has done; a server that is unavailable has done nothing.
        (300..<500).contains(status) || status == 503 || isNamed && status < 300
    }
}
#endif
