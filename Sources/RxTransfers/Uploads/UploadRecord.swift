import FoundationEssentials
public import RxHTTP
public import RxLite

/// Where the record is kept by which an upload goes on after the end of its process. An upload of a stream has none.
public struct UploadRecords: Sendable {
    enum Location: Sendable {
        case automatic
        case none
        case file(String)
        case store(any UploadRecordStore, key: String)
    }

    let location: Location

    /// Beside the file, with the endings `.upload-….json` and `.upload-….lock`; none for bytes.
    public static let automatic = UploadRecords(location: .automatic)
    /// No record: the upload ends with its subscription, and a cancelled one is deleted on the server.
    public static let none = UploadRecords(location: .none)

    /// A file at this path, and a lock at the path with the ending `.lock`.
    public static func file(_ path: String) -> UploadRecords { UploadRecords(location: .file(path)) }

    /// A store of the caller.
    ///
    /// - Parameters:
    ///   - store: where the record is kept.
    ///   - key: names the upload: its content and its endpoint.
    public static func store(_ store: any UploadRecordStore, key: String) -> UploadRecords {
        UploadRecords(location: .store(store, key: key))
    }
}

/// Stores the records of uploads.
///
/// A record has the URL by which anyone may change the upload on many servers: keep it as secret as a credential. Each
/// stream sends one value and ends.
public protocol UploadRecordStore: Sendable {
    /// Holds the record of the key for one upload, until the closure is called or released. Fails with `locked` while
    /// another process, or another upload of this one, holds it.
    func lock(_ key: String) -> Observable<@Sendable () -> Void, NetworkError>
    /// The record; `nil` if there is none.
    func load(_ key: String) -> Observable<[UInt8]?, NetworkError>
    /// Replaces the record. It must be durable when the value is sent.
    func save(_ key: String, _ record: [UInt8]) -> Observable<Void, NetworkError>
    /// Removes the record, if there is one.
    func remove(_ key: String) -> Observable<Void, NetworkError>
}

/// Records as files.
struct UploadRecordFiles: UploadRecordStore {
    let files: any FileSystem

    func lock(_ key: String) -> Observable<@Sendable () -> Void, NetworkError> {
        files.lock(key + ".lock").mapError { error in
            guard error.code == .locked else { return error }
            return NetworkError(
                .locked, "another upload with the record \(key) is running; wait for it or cancel it")
        }
    }

    func load(_ key: String) -> Observable<[UInt8]?, NetworkError> {
        files.contents(of: key + ".json", limit: UploadRecord.sizeLimit)
            .catch { error -> Observable<[UInt8]?, NetworkError> in
                error.code == .tooLarge ? .just(nil) : .fail(error)
            }
    }

    func save(_ key: String, _ record: [UInt8]) -> Observable<Void, NetworkError> {
        files.replace(key + ".json", with: record)
    }

    func remove(_ key: String) -> Observable<Void, NetworkError> { files.remove(key + ".json") }
}

/// The state of an upload that is not complete, in the JSON of its record. Records of older releases must
/// stay readable: a new property must be optional.
struct UploadRecord: Codable, Equatable, Sendable {
    var version = 1
    /// The protocol.
    var method: String
    /// The method and the URL of the endpoint, as a digest.
    var target: String
    /// The URL of the upload, or its identifier.
    var location: String
    /// The size of the content in bytes.
    var size: Int64?
    /// The time of the file's last change, in nanoseconds since 1970.
    var modified: Int64?
    /// The number of the file in its file system.
    var number: UInt64?
    /// The algorithm and the hexadecimal digits of the content's digest.
    var digest: String?
    /// When the server may remove the upload, in seconds since 1970.
    var expires: Double?
    /// The size of each part but the last (S3).
    var partSize: Int64?
    /// The URLs of partial uploads in their order; an empty one does not exist yet (tus).
    var partLocations: [String]?

    private enum CodingKeys: String, CodingKey {
        case version
        case method
        case target
        case location
        case size
        case modified
        case number
        case digest
        case expires
        case partSize
        // The name of the property in older releases, which their records have.
        case partLocations = "places"
    }

    /// The maximum size of a record, in bytes.
    static let sizeLimit = 64 << 10

    /// The record in `bytes`; `nil` if they are not a valid one.
    static func read(_ bytes: [UInt8]) -> UploadRecord? {
        guard bytes.count <= sizeLimit,
            // Any error means that there is nothing to go on from.
            let record = try? JSONDecoder().decode(Self.self, from: Data(bytes)), record.version == 1,
            record.size ?? 0 >= 0, record.partSize.map({ S3MultipartMachine.partSizes.contains($0) }) ?? true
        else { return nil }
        return record
    }

    func encoded() throws(NetworkError) -> [UInt8] {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return Array(try encoder.encode(self))
        } catch {
            throw NetworkError(.file, "the record of the upload cannot be encoded: \(error)")
        }
    }
}

/// The identity of an upload's content.
struct ContentIdentity: Sendable, Equatable {
    var size: Int64?
    var modified: Duration?
    /// The number of the file in its file system; 0 if there is none.
    var number: UInt64 = 0
    var digest: TransferDigest?

    /// Whether the content is that of a record, as far as both tell.
    func matches(_ record: UploadRecord) -> Bool {
        if let known = record.size, known != size { return false }
        if let known = record.digest, let digest, known.hasPrefix(digest.algorithm.rawValue + " ") {
            // The file may have been touched.
            return known == digest.description
        }
        if let known = record.number, known != 0, number != 0, known != number { return false }
        guard let known = record.modified else { return true }
        return modified.map { known == $0.inNanoseconds } ?? true
    }
}

extension Duration {
    /// The whole nanoseconds.
    var inNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, isOver) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return isOver ? .max : product + attoseconds / 1_000_000_000
    }
}
