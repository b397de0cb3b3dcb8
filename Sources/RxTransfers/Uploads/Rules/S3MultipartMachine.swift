import FoundationEssentials
import HTTPTypes
import RxHTTP

/// The rules of a multipart upload of S3: parts side by side, which are joined at the end. A pure state machine.
struct S3MultipartMachine: Sendable {
    /// An event of the upload.
    enum Input: Sendable {
        /// Begins, with the upload in a record or anew.
        case begin(uploadID: String?)
        /// A piece of the content is there, for the part with this number.
        case loaded(Int, UploadPiece)
        case responded(UploadRequest.Kind, ResponseHead, [UInt8])
        case failed(UploadRequest.Kind, NetworkError)
        /// The wait before another request of this kind is over.
        case waited(UploadRequest.Kind)
    }

    /// An action for the upload.
    enum Output: Sendable {
        /// Read the piece of a part.
        case load(part: Int, from: Int64, limit: Int64)
        case send(UploadRequest)
        /// Cancel all running requests.
        case stop
        /// Write the record before anything that follows.
        case save(uploadID: String)
        /// Remove the record.
        case forget
        /// Wait after so many failures of this kind of request since the last progress, then report `waited`.
        case wait(UploadRequest.Kind, failures: Int, NetworkError)
        /// The server has so many bytes from earlier runs; after a restart once more, with none.
        case started(bytes: Int64)
        /// The part has arrived.
        case confirmed(part: Int, bytes: Int64)
        /// The object is complete, with this response.
        case finish(ResponseHead, [UInt8])
        case fail(NetworkError)
    }

    /// The most parts of an object, which ``UploadMethod/multipart(concurrency:options:)`` names.
    static let maxPartCount = 10_000

    /// The sizes that a part may have. A record with another one is not read.
    static let partSizes: ClosedRange<Int64> = 1...(5 << 30)

    /// The size of the parts of an object: a whole number of MiB, so that there are at most ``maxPartCount``.
    ///
    /// - Parameter wanted: the size that the caller wants.
    static func partSize(of total: Int64?, wanted: Int64?) -> Int64 {
        var size = wanted ?? 0
        let least = count(of: total ?? 0, by: Int64(maxPartCount))
        if wanted == nil || size < least {
            let mebibyte: Int64 = 1 << 20
            // More than the 5 MiB that servers require of all parts but the last.
            size = max(8 * mebibyte, count(of: least, by: mebibyte) * mebibyte)
        }
        return min(max(size, partSizes.lowerBound), partSizes.upperBound)
    }

    /// The number of pieces of at most `size` bytes.
    private static func count(of total: Int64, by size: Int64) -> Int64 {
        total / size + (total % size > 0 ? 1 : 0)
    }

    private let total: Int64?
    let partSize: Int64
    private let concurrency: Int
    private let algorithm: TransferDigest.Algorithm?
    private let maxRetries: Int

    private var uploadID: String?
    private var done: [Int: S3Documents.Part] = [:]
    /// The pieces of the parts that are being sent, or wait to be sent again.
    private var running: [Int: UploadPiece] = [:]
    /// The next part to load, from 1.
    private var next = 1
    private var isLoading = false
    private var isAtEnd = false
    /// The `NextPartNumberMarker` of the last page of the parts (ListParts).
    private var marker: String?
    /// The failures of each request since the last progress: one broken connection interrupts several.
    private var failures: [UploadRequest.Kind: Int] = [:]
    private var restarts = 0
    private var isOver = false
    private var isCompleting = false

    init(
        total: Int64?, partSize: Int64, concurrency: Int, algorithm: TransferDigest.Algorithm?,
        maxRetries: Int
    ) {
        self.total = total
        self.partSize = partSize
        self.concurrency = max(1, concurrency)
        self.algorithm = algorithm
        self.maxRetries = maxRetries
    }

    /// Takes an input, and returns what to do.
    mutating func receive(_ input: Input) -> [Output] {
        guard !isOver else { return [] }
        switch input {
        case .begin(let uploadID?):
            self.uploadID = uploadID
            return [.send(listing)]
        case .begin(nil): return [.send(creation)]
        case .loaded(let number, let piece): return send(number, piece)
        case .responded(let kind, let head, let body): return take(kind, head, body)
        case .failed(let kind, let error): return take(kind, error)
        case .waited(let kind): return again(kind)
        }
    }

    // MARK: - Requests

    private var creation: UploadRequest {
        var request = UploadRequest(kind: .creation, target: .endpoint, method: .post, query: ["uploads": ""])
        if let name = algorithm.flatMap(Self.name) { request.fields[.checksumAlgorithm] = name }
        return request
    }

    /// The value of `x-amz-checksum-algorithm`; `S3Documents.checksumElement(_:)` and
    /// ``TransferDigest/checksumField(_:)`` have the other names.
    private static func name(_ algorithm: TransferDigest.Algorithm) -> String? {
        switch algorithm {
        case .sha256: "SHA256"
        case .sha1: "SHA1"
        case .crc32c: "CRC32C"
        case .crc32: "CRC32"
        case .crc64nvme: "CRC64NVME"
        case .sha512, .md5: nil
        }
    }

    private var listing: UploadRequest {
        var query = ["uploadId": uploadID ?? ""]
        if let marker { query["part-number-marker"] = marker }
        return UploadRequest(kind: .query, target: .endpoint, method: .get, query: query)
    }

    private func part(_ number: Int, _ piece: UploadPiece) -> UploadRequest {
        UploadRequest(
            kind: .part(number), target: .endpoint, method: .put,
            query: ["partNumber": "\(number)", "uploadId": uploadID ?? ""], piece: piece,
            digest: algorithm.map { .checksum($0) })
    }

    private var completion: UploadRequest {
        let parts = done.values.sorted { $0.number < $1.number }
        return UploadRequest(
            kind: .completion, target: .endpoint, method: .post, fields: [.contentType: "application/xml"],
            query: ["uploadId": uploadID ?? ""], body: S3Documents.completion(parts, algorithm))
    }

    /// The request that ends the upload on the server, if it exists there.
    var termination: UploadRequest? {
        guard let uploadID, !isOver else { return nil }
        return abort(uploadID)
    }

    private func abort(_ uploadID: String) -> UploadRequest {
        UploadRequest(
            kind: .termination, target: .endpoint, method: .delete, query: ["uploadId": uploadID])
    }

    // MARK: - Parts

    /// The length of a part, if the length of the content is known.
    private func length(of number: Int) -> Int64? {
        total.map { min(partSize, $0 - Int64(number - 1) * partSize) }
    }

    /// Loads the next part that the server does not have, or joins all.
    private mutating func proceed() -> [Output] {
        if let total {
            // An empty object has one empty part.
            let count = max(1, Int(clamping: Self.count(of: total, by: partSize)))
            while done[next] != nil, next <= count { next += 1 }
            isAtEnd = next > count
        }
        guard isAtEnd else {
            guard !isLoading, running.count < concurrency else { return [] }
            guard next <= Self.maxPartCount else {
                return fail(NetworkError(.tooLarge, "the content has more than \(Self.maxPartCount) parts"))
            }
            isLoading = true
            return [.load(part: next, from: Int64(next - 1) * partSize, limit: partSize)]
        }
        guard running.isEmpty, !isCompleting else { return [] }
        isCompleting = true
        return [.send(completion)]
    }

    private mutating func send(_ number: Int, _ piece: UploadPiece) -> [Output] {
        isLoading = false
        if let length = length(of: number), piece.count != length {
            return fail(
                NetworkError(.bodyLength, "part \(number) has \(piece.count) bytes instead of \(length)"))
        }
        running[number] = piece
        next = number + 1
        if piece.isLast { isAtEnd = true }
        return [.send(part(number, piece))] + proceed()
    }

    // MARK: - Responses

    private mutating func take(
        _ kind: UploadRequest.Kind, _ head: ResponseHead, _ body: [UInt8]
    ) -> [Output] {
        switch kind {
        case .creation:
            guard let uploadID = S3Documents.uploadID(body) else {
                return fail(.invalid("the server named no upload (UploadId)", head))
            }
            self.uploadID = uploadID
            return [.save(uploadID: uploadID), .started(bytes: 0)] + proceed()
        case .query:
            let (parts, marker) = S3Documents.list(body, algorithm)
            for part in parts where (1...Self.maxPartCount).contains(part.number) {
                // A part of another size is sent again, which replaces it.
                if let size = part.size, let length = length(of: part.number), size == length {
                    done[part.number] = part
                }
            }
            // Only a marker beyond the last one leads to an end.
            if let marker, let number = Int(marker), number > self.marker.flatMap({ Int($0) }) ?? 0 {
                self.marker = marker
                return [.send(listing)]
            }
            let bytes = done.keys.reduce(0) { $0 + (length(of: $1) ?? 0) }
            return [.started(bytes: bytes)] + proceed()
        case .part(let number):
            guard let piece = running[number] else { return [] }
            guard let tag = head[.eTag] else {
                return fail(.invalid("the server gave part \(number) no ETag", head))
            }
            let checksum = algorithm.flatMap(TransferDigest.checksumField).flatMap { head[$0] }
            running[number] = nil
            done[number] = S3Documents.Part(number: number, size: piece.count, tag: tag, checksum: checksum)
            failures = [:]
            return [.confirmed(part: number, bytes: piece.count)] + proceed()
        case .completion:
            // Joining takes long, so that the status comes before the outcome is known.
            if let code = S3Documents.errorCode(body) {
                return retry(kind, .invalid("the server could not join the parts: \(code)", head))
            }
            isOver = true
            return [.finish(head, body)]
        default: return []
        }
    }

    private mutating func take(_ kind: UploadRequest.Kind, _ error: NetworkError) -> [Output] {
        if error.head?.status.code == 404, uploadID != nil, kind != .creation {
            // The upload is gone on the server. Only the first 404 arrives: ``Output/stop`` ends its other requests.
            guard restarts == 0 else { return fail(error) }
            restarts += 1
            // All that belongs to the former upload.
            (uploadID, marker, done, running, next) = (nil, nil, [:], [:], 1)
            (isAtEnd, isLoading, isCompleting) = (false, false, false)
            return [.stop, .forget, .send(creation)]
        }
        guard error.isRecoverable else {
            return fail(error)
        }
        return retry(kind, error)
    }

    private mutating func retry(_ kind: UploadRequest.Kind, _ error: NetworkError) -> [Output] {
        let count = failures[kind, default: 0] + 1
        failures[kind] = count
        guard count <= maxRetries else { return fail(error) }
        return [.wait(kind, failures: count, error)]
    }

    private mutating func again(_ kind: UploadRequest.Kind) -> [Output] {
        switch kind {
        case .creation: [.send(creation)]
        case .query: [.send(listing)]
        case .part(let number): running[number].map { [.send(part(number, $0))] } ?? []
        case .completion: [.send(completion)]
        default: []
        }
    }

    private mutating func fail(_ error: NetworkError) -> [Output] {
        isOver = true
        return [.stop, .fail(error)]
    }
}

extension HTTPField.Name {
    static let checksumAlgorithm = HTTPField.Name("x-amz-checksum-algorithm")!
}
