import FoundationEssentials
import RawStructuredFieldValues

/// The values of the fields `Content-Digest` and `Repr-Digest` (RFC 9530 §2, §3). `DigestFields` of RxTransfers reads
/// them by it, too.
package enum DigestField {
    /// The maximum number of bytes of a field to parse: the time to parse grows with the square of its members.
    private static let limit = 2048

    /// The digests in a field by the name of their algorithm, in lower case as the fields have them. Empty for a
    /// malformed or an overlong field; a member that is not a byte sequence is skipped.
    package static func digests(in text: String) -> [String: [UInt8]] {
        guard text.utf8.count <= limit else { return [:] }
        var parser = StructuredFieldValueParser(Array(text.utf8))
        guard let members = try? parser.parseDictionaryFieldValue() else { return [:] }
        var digests: [String: [UInt8]] = [:]
        for (name, member) in members {
            guard case .item(let item) = member, case .undecodedByteSequence(let text) = item.rfc9651BareItem,
                let bytes = Data(base64Encoded: text)
            else { continue }
            digests[name] = Array(bytes)
        }
        return digests
    }
}
