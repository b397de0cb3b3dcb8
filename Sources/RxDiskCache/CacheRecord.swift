#if DiskCache
import CZlib
import FoundationEssentials
import GRDB
import RxCache

/// The metadata of a stored response as columns, and back.
struct CacheRecord {
    /// The variant as text; equal variants have equal texts.
    let variant: String
    /// The columns from `uuid` to `metadataCheck`.
    let columns: StatementArguments

    init(_ metadata: CacheEntry.Metadata) throws {
        let json = try Self.encoder.encode(metadata)
        variant = try Self.text(of: metadata.variant)
        columns = [
            metadata.id.uuidString, variant, String(metadata.key.place), json, Self.check(json),
        ]
    }

    /// The entry in a row of `uuid, variant, metadata, metadataCheck, content, contentCheck` from the second
    /// column on; `nil` if it differs from the entry written under `key`.
    static func entry(in row: Row, for key: CacheKey) -> CacheEntry? {
        guard case .blob(let json) = (row[3] as DatabaseValue).storage,
            case .int64(let jsonCheck) = (row[4] as DatabaseValue).storage, jsonCheck == check(json),
            case .int64(let bodyCheck) = (row[6] as DatabaseValue).storage,
            let body = try? row.withUnsafeData(atIndex: 5, { $0.map(Array.init) ?? [] }),
            bodyCheck == check(body),
            let metadata = try? decoder.decode(CacheEntry.Metadata.self, from: json),
            metadata.key == key, (row[1] as DatabaseValue) == metadata.id.uuidString.databaseValue,
            let variant = try? text(of: metadata.variant), (row[2] as DatabaseValue) == variant.databaseValue
        else { return nil }
        return CacheEntry(metadata, body: body)
    }

    /// The CRC-32 of bytes.
    static func check(_ bytes: some ContiguousBytes) -> Int64 {
        unsafe bytes.withUnsafeBytes { bytes in
            // zlib takes lengths of 32 bits.
            var check = crc32(0, nil, 0)
            var rest = unsafe bytes[...]
            while let start = unsafe UnsafeRawBufferPointer(rebasing: rest).baseAddress, unsafe !rest.isEmpty
            {
                let part = unsafe rest.prefix(1 << 30)
                unsafe check = crc32(check, start.assumingMemoryBound(to: UInt8.self), UInt32(part.count))
                unsafe rest = rest.dropFirst(part.count)
            }
            return Int64(check)
        }
    }

    private static func text(of variant: CacheVariant) throws -> String {
        variant.fields.isEmpty ? "" : String(decoding: try encoder.encode(variant.fields), as: UTF8.self)
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return encoder
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return decoder
    }
}
#endif
