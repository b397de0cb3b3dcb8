#if Fleet
import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxTesting
import Testing

@testable import RxFleet

/// Sealed values, and the forms that are refused.
@Suite struct SealingTests {
    private let plain = Array("secret".utf8)

    private func sealed(_ keys: SealingKeys) throws -> [UInt8] {
        try SealedForm.seal(plain, as: .credential, at: "login:a", with: keys.current)
    }

    private func code(
        _ bytes: [UInt8], as kind: SealedForm.Kind = .credential, at place: String = "login:a",
        _ keys: SealingKeys
    ) -> NetworkError.Code? {
        do throws(NetworkError) {
            _ = try SealedForm.unseal(bytes, as: kind, at: place, with: keys)
            return nil
        } catch { return error.code }
    }

    @Test func aSealedEntryIsReadAgain() throws {
        let keys = try SealingKeys.test()
        let bytes = try sealed(keys)
        #expect(try SealedForm.unseal(bytes, as: .credential, at: "login:a", with: keys) == plain)
        #expect(!String(decoding: bytes, as: UTF8.self).contains("secret"))
        #expect(try sealed(keys) != bytes, "each has a nonce of its own")
    }

    /// A former key unseals, an unknown one does not.
    @Test func rotation() throws {
        let old = try SealingKeys.test(1, id: "old")
        let bytes = try sealed(old)
        let new = try SealingKeys.test(2, id: "new")
        #expect(code(bytes, new) == .unsealable)
        #expect(code(bytes, SealingKeys(new.current, former: [old.current])) == nil)
        #expect(code(bytes, try .test(9, id: "old")) == .unsealable, "the same id, and another key")
    }

    /// An entry is bound to its place and its kind.
    @Test func binding() throws {
        let keys = try SealingKeys.test()
        let bytes = try sealed(keys)
        #expect(code(bytes, at: "login:b", keys) == .unsealable)
        #expect(code(bytes, as: .response, keys) == .corruptEntry)
        var later = bytes
        later[3] = 2
        #expect(code(later, keys) == .laterFormat)
    }

    /// No change of the bytes is accepted, and none traps.
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func mutations(seed: UInt64) throws {
        let keys = try SealingKeys.test()
        let bytes = try sealed(keys)
        var random = SeededRandom(seed)
        for _ in 0..<100 {
            let changed = bytes.mutated(by: &random)
            if changed != bytes { #expect(code(changed, keys) != nil) }
        }
        for length in 0..<bytes.count { #expect(code(Array(bytes.prefix(length)), keys) != nil) }
    }

    @Test func keysAreChecked() {
        for (id, count) in [
            ("", 32), (String(repeating: "x", count: 65), 32), ("a", 31), ("a", 33), ("a", 0),
        ] {
            #expect(throws: NetworkError.self) {
                try SealingKey(id: id, bytes: Array(repeating: 0, count: count))
            }
        }
    }

    @Test func descriptionsShowNoKeys() throws {
        let keys = try SealingKeys.test(0x41)
        #expect("\(keys)" == "SealingKeys(test)")
        #expect("\(keys.current)" == "SealingKey(test)")
        let record = CredentialRecord(version: 3, credential: Credential(token: "t"))
        #expect("\(record)" == "credential, version 3")
    }

    // MARK: - Records

    /// A record follows another with a greater version, and the newest that was seen.
    @Test func versions() {
        let record = CredentialRecord(version: 5, credential: Credential(token: "a"), renewalAttempt: 1)
        let next = record.following(with: Credential(token: "b"), after: 9)
        #expect(next == CredentialRecord(version: 10, credential: Credential(token: "b")))
        #expect(record.following(with: nil, after: 2) == CredentialRecord(version: 6, credential: nil))
    }

    /// A refresh token is sent by one attempt.
    @Test func attempts() {
        let record = CredentialRecord(version: 5, credential: Credential(token: "a"))
        guard case .begin(let marked) = record.renewal(by: 7) else {
            Issue.record("the first attempt begins")
            return
        }
        #expect(marked.renewalAttempt == 7)
        #expect(marked.renewal(by: 8) == .lost)
        #expect(marked.renewal(by: 7) == .lost, "not even a second time by the same")
        #expect(marked.settled(by: 8) == nil)
        #expect(marked.settled(by: 7) == record)
    }

    /// Other bytes are not a record.
    @Test func records() throws {
        for text in ["", "{}", "[]", #"{"version": -1}"#, #"{"version": 18446744073709551615}"#, "\u{0}"] {
            #expect(throws: NetworkError.self) { try CredentialRecord(bytes: Array(text.utf8), at: "a") }
        }
        let record = CredentialRecord(
            version: 1, credential: Credential(token: "a", refreshToken: "b", account: "c"),
            renewalAttempt: .max)
        #expect(try CredentialRecord(bytes: record.bytes(), at: "a") == record)
    }

    /// Only an answer, or nothing sent, leaves the refresh token unused.
    @Test func outcomes() {
        func status(_ status: Int, _ code: NetworkError.Code = .status) -> NetworkError {
            var error = NetworkError(code, "")
            error.head = ResponseHead(status: .init(code: status))
            return error
        }
        let refused = status(400, NetworkError.Code(rawValue: "oauthRefused"))
        for error in [
            refused, status(400), status(429), status(503), NetworkError(.connect, ""),
            NetworkError(.tls, ""),
        ] {
            #expect(RenewalOutcome(of: error) == .definite, "\(error)")
        }
        var undecodable = NetworkError(.decoding, "")
        undecodable.head = ResponseHead(status: .ok)
        for error in [
            status(500), status(502), status(504), NetworkError(.connectionLost, ""), undecodable,
            NetworkError(.totalTimeout, ""), NetworkError(.partialBody, ""), NetworkError(.cancelled, ""),
        ] {
            #expect(RenewalOutcome(of: error) == .ambiguous, "\(error)")
        }
    }
}
#endif
