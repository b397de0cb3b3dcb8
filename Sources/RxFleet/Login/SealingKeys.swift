#if Fleet
import Crypto
import FoundationEssentials
public import RxHTTP

/// The keys that seal what a fleet stores: one to seal with, and others to unseal what was sealed before.
///
/// ```swift
/// let keys = try SealingKeys(SealingKey(id: "2026-11", bytes: key))
/// ```
///
/// To replace a key, give all processes the new one among ``former`` first, then make it ``current``, then remove the old
/// one when nothing is sealed with it any more. The keys are the user's: keep them where the store's operators cannot
/// read them.
public struct SealingKeys: Sendable {
    /// The key that seals.
    public var current: SealingKey
    /// Other keys that unseal.
    public var former: [SealingKey]

    /// Creates a set of keys.
    public init(_ current: SealingKey, former: [SealingKey] = []) {
        self.current = current
        self.former = former
    }

    /// The key with this id, if it is known.
    func key(_ id: some Sequence<UInt8>) -> SealingKey? {
        ([current] + former).first { $0.id.utf8.elementsEqual(id) }
    }

    /// Keys for one purpose, derived from these (HKDF with SHA-256, RFC 5869). With another text of
    /// the purpose, nothing that was sealed before can be unsealed.
    func derived(for purpose: String) -> SealingKeys {
        SealingKeys(current.derived(for: purpose), former: former.map { $0.derived(for: purpose) })
    }
}

/// A key of 256 bits for AES-GCM, and its id.
public struct SealingKey: Sendable {
    /// The name by which the key is found again; it is stored unsealed.
    public let id: String
    let key: SymmetricKey

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - id: a name of 1 to 64 bytes, such as the date of the key.
    ///   - bytes: 32 random bytes.
    /// - Throws: `invalidConfiguration` for another number of bytes, in the id or the key.
    public init(id: String, bytes: some Sequence<UInt8>) throws(NetworkError) {
        let bytes = Array(bytes)
        guard (1...64).contains(id.utf8.count), bytes.count == 32 else {
            throw NetworkError(
                .invalidConfiguration,
                "a sealing key has 32 bytes and an id of 1 to 64 bytes, not \(bytes.count) and \(id.utf8.count)"
            )
        }
        self.init(id: id, key: SymmetricKey(data: bytes))
    }

    private init(id: String, key: SymmetricKey) {
        self.id = id
        self.key = key
    }

    /// One of the keys of ``SealingKeys/derived(for:)``. With another salt, nothing that was sealed before can be
    /// unsealed.
    func derived(for purpose: String) -> SealingKey {
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key, salt: Array("RxFleet".utf8), info: Array(purpose.utf8), outputByteCount: 32
        )
        return SealingKey(id: id, key: key)
    }
}

extension SealingKey: RedactedDescription {
    /// The id, without the key.
    public var description: String { "SealingKey(\(id))" }
}

extension SealingKeys: RedactedDescription {
    /// The ids, without the keys.
    public var description: String {
        "SealingKeys(\(([current] + former).map(\.id).joined(separator: ", ")))"
    }
}

extension NetworkError.Code {
    /// The stored entry is not one that this library wrote: other bytes, another kind, or a wrong checksum.
    public static let corruptEntry = Self(rawValue: "corruptEntry")
    /// A later version of this library has stored the entry, in a form that this one does not know.
    public static let laterFormat = Self(rawValue: "laterFormat")
    /// The entry cannot be unsealed: its key is unknown here, its bytes have been changed, or it has been moved to
    /// another name in the store.
    public static let unsealable = Self(rawValue: "unsealable")
}

/// The form of everything sealed in a store: `RXF`, the version, the kind, the key's id with its length, then nonce,
/// ciphertext and tag of AES-GCM (NIST SP 800-38D). What precedes the nonce, and the entry's key in the store, are
/// authenticated, so that an entry cannot be moved to another name.
enum SealedForm {
    private static let magic = Array("RXF".utf8)
    /// The version of the form, and of what is sealed: ``CredentialRecord``, ``StoredResponse`` and ``RemovalCodec``.
    static let version: UInt8 = 1

    /// The kind of a sealed entry. The numbers are stored.
    enum Kind: UInt8 {
        case credential = 1
        case response = 2
        case removal = 3
    }

    static func seal(
        _ plain: [UInt8], as kind: Kind, at entryName: String, with key: SealingKey
    ) throws(NetworkError) -> [UInt8] {
        let header = magic + [version, kind.rawValue, UInt8(key.id.utf8.count)] + Array(key.id.utf8)
        do {
            let box = try AES.GCM.seal(
                plain, using: key.key, authenticating: header + Array(entryName.utf8))
            guard let combined = box.combined else { throw CryptoKitError.incorrectParameterSize }
            return header + Array(combined)
        } catch {
            throw NetworkError(.unsealable, "the entry \(entryName) cannot be sealed: \(error)")
        }
    }

    static func unseal(
        _ bytes: [UInt8], as kind: Kind, at entryName: String, with keys: SealingKeys
    ) throws(NetworkError) -> [UInt8] {
        let parts = try parse(bytes, as: kind, at: entryName)
        guard let key = keys.key(parts.id) else {
            throw NetworkError(
                .unsealable, "the entry \(entryName) is sealed with another key than \(keys)")
        }
        do {
            let box = try AES.GCM.SealedBox(combined: parts.sealed)
            return Array(
                try AES.GCM.open(
                    box, using: key.key, authenticating: Array(parts.header) + Array(entryName.utf8))
            )
        } catch {
            throw NetworkError(
                .unsealable,
                "the entry \(entryName) cannot be unsealed with the key \(key.id): it is another key, or another entry"
            )
        }
    }

    /// The parts of the form, at the places where `seal` writes them.
    private static func parse(
        _ bytes: [UInt8], as kind: Kind, at entryName: String
    ) throws(NetworkError) -> (header: ArraySlice<UInt8>, id: ArraySlice<UInt8>, sealed: ArraySlice<UInt8>) {
        guard bytes.count > 6, bytes.starts(with: magic) else {
            throw NetworkError(.corruptEntry, "the entry \(entryName) is not a sealed entry")
        }
        guard bytes[3] <= version else {
            throw NetworkError(
                .laterFormat,
                "the entry \(entryName) has the format \(bytes[3]); this version knows \(version)")
        }
        let end = 6 + Int(bytes[5])
        // Nonce and tag have 28 bytes.
        guard bytes[3] == version, bytes[4] == kind.rawValue, bytes[5] > 0, bytes.count >= end + 28 else {
            throw NetworkError(.corruptEntry, "the entry \(entryName) is cut off, or of another kind")
        }
        return (bytes[..<end], bytes[6..<end], bytes[end...])
    }
}
#endif
