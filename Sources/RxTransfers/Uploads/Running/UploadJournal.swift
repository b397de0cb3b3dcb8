import FoundationEssentials
import RxHTTP
import RxLite

/// The record of one running upload, held against all others.
struct UploadJournal: Sendable {
    private let store: any UploadRecordStore
    private let key: String

    /// - Returns: `nil` for an upload without a record.
    init?(
        _ records: UploadRecords, of content: UploadContent, method: String, targetID: String,
        in files: any FileSystem
    ) {
        // A stream cannot prove that it has the content of an earlier one.
        guard !content.isStream else { return nil }
        switch records.location {
        case .none: return nil
        case .file(let path):
            store = UploadRecordFiles(files: files)
            key = path.hasSuffix(".json") ? String(path.dropLast(5)) : path
        case .store(let store, let key):
            self.store = store
            self.key = key
        case .automatic:
            guard case .file(let path) = content.kind else { return nil }
            store = UploadRecordFiles(files: files)
            // One file can be uploaded to several places at once.
            key = path + ".upload-" + HexDigest.sha256("\(method) \(targetID)".utf8).prefix(12)
        }
    }

    /// Holds the record; `locked` while another holds it.
    func lock() -> Observable<@Sendable () -> Void, NetworkError> { store.lock(key) }

    /// The record of an upload with this protocol to this endpoint, unless it is out of date.
    func load(
        method: String, targetID: String, now: Date
    ) -> Observable<UploadRecord?, NetworkError> {
        store.load(key).map { bytes in
            guard let record = bytes.flatMap(UploadRecord.read), record.method == method,
                record.target == targetID, record.expires ?? .infinity > now.timeIntervalSince1970
            else { return nil }
            return record
        }
    }

    func save(_ record: UploadRecord) -> Observable<Void, NetworkError> {
        .deferred { () throws(NetworkError) in store.save(key, try record.encoded()) }
    }

    func remove() -> Observable<Void, NetworkError> { store.remove(key) }
}

/// Gathers the response of one request of an upload.
struct ResponseParts: Sendable {
    private var head: ResponseHead?
    private var body: [UInt8] = []
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Takes an event; returns the response with its last one.
    mutating func take(_ event: TransferEvent) throws(NetworkError) -> (ResponseHead, [UInt8])? {
        switch event {
        case .head(let head): self.head = head
        case .chunk(let bytes):
            guard bytes.count <= limit - body.count else {
                throw NetworkError(.tooLarge, "the body is larger than \(limit) bytes")
            }
            body += bytes
        case .finished: return head.map { ($0, body) }
        default: break
        }
        return nil
    }
}
