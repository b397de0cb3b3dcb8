#if Auth
import FoundationEssentials
import RxHTTP
import RxLite

/// The coding `aws-chunked`, in which S3 takes content that is signed, or summed up, while it is sent.
struct AWSChunking: Sendable {
    /// The key of the chunks' signatures and the signature of the request, from which they are chained; `nil` for chunks
    /// without signatures.
    var signing: (key: AWSSigningKey, date: AWSDate, seed: String)?
    /// The checksum that follows the content.
    var checksum: AWSChecksum?
    /// The bytes of each chunk but the last. S3 requires 8 KiB or more.
    var size = 64 << 10

    /// The text that stands for the hash of the content in the signature of the request.
    static func payload(_ version: AWSSignatureVersion?, hasTrailer: Bool) -> String {
        let prefix = version.map { "STREAMING-\($0.algorithm)-PAYLOAD" } ?? "STREAMING-UNSIGNED-PAYLOAD"
        return hasTrailer ? prefix + "-TRAILER" : prefix
    }

    /// The number of bytes of the coded content, which is sent before it: all that the coder below appends.
    ///
    /// - Parameters:
    ///   - length: the number of bytes of the content.
    ///   - signature: the number of characters of a signature; `nil` for chunks without signatures.
    func codedLength(of length: Int64, signature: Int?) -> Int64 {
        let (size, full) = (Int64(size), length / Int64(size))
        let extra = Int64(signature.map { ";chunk-signature=".utf8.count + $0 } ?? 0)
        func line(_ count: Int64) -> Int64 { Int64(String(count, radix: 16).utf8.count) + extra + 2 }
        var coded = full * (line(size) + size + 2)
        if length % size > 0 { coded += line(length % size) + length % size + 2 }
        coded += line(0)
        if let checksum {
            coded += Int64(checksum.field.utf8.count + 1 + checksum.textLength + 2)
            if let signature { coded += Int64("x-amz-trailer-signature:".utf8.count + signature + 2) }
        }
        return coded + 2
    }

    /// The content in this coding.
    ///
    /// - Parameter length: the number of bytes of the content.
    func coded(_ chunks: Observable<[UInt8], NetworkError>, length: Int64) -> StreamedBody.Content {
        let signature = signing.map(\.key.version.chunkSignatureLength)
        return StreamedBody.Content(
            length: codedLength(of: length, signature: signature),
            chunks: chunks.lift { observer in
                let coder = AWSChunkCoder(self, into: observer)
                return Observer(scope: coder.scope, next: coder.receive, end: coder.receive)
            })
    }
}

/// The coding of one content.
private final class AWSChunkCoder: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    let scope: Scope
    private let chunking: AWSChunking
    private let observer: Observer<[UInt8], NetworkError>
    private var pending: [UInt8] = []
    /// The latest signature, at first that of the request: the signature of the next chunk covers it.
    private var signature: String
    private var checksum: AWSChecksum.Running?

    init(_ chunking: AWSChunking, into observer: Observer<[UInt8], NetworkError>) {
        self.chunking = chunking
        self.observer = observer
        scope = observer.scope.child()
        signature = chunking.signing?.seed ?? ""
        checksum = chunking.checksum.map(AWSChecksum.Running.init)
    }

    @Sendable
    func receive(_ bytes: [UInt8]) {
        checksum?.update(bytes)
        pending += bytes
        guard pending.count >= chunking.size else { return }
        var output: [UInt8] = []
        var start = 0
        do throws(NetworkError) {
            while pending.count - start >= chunking.size {
                try append(pending[start..<(start + chunking.size)], to: &output)
                start += chunking.size
            }
        } catch { return end(.failed(error)) }
        pending.removeFirst(start)
        observer.next(output)
    }

    @Sendable
    func receive(_ completion: Completion<NetworkError>) {
        guard case .finished = completion else { return end(completion) }
        var output: [UInt8] = []
        do throws(NetworkError) {
            if !pending.isEmpty { try append(pending[...], to: &output) }
            try append([], to: &output)
        } catch { return end(.failed(error)) }
        observer.next(output)
        if observer.scope.isOpen { end(.finished) }
    }

    private func end(_ completion: Completion<NetworkError>) {
        scope.close()
        pending = []
        observer.end(completion)
    }

    /// Appends a chunk; after the empty one, the trailer. ``AWSChunking/codedLength(of:signature:)`` counts these bytes
    /// in advance.
    private func append(_ chunk: ArraySlice<UInt8>, to output: inout [UInt8]) throws(NetworkError) {
        output += String(chunk.count, radix: 16).utf8
        if let (key, date, _) = chunking.signing {
            let hashes = [signature, [UInt8]().sha256Text, chunk.sha256Text]
            signature = try key.signature(of: key.stringToSign(date, hashes, suffix: "-PAYLOAD"))
            output += ";chunk-signature=\(padded(signature))".utf8
        }
        output += "\r\n".utf8
        guard chunk.isEmpty else {
            output += chunk
            output += "\r\n".utf8
            return
        }
        if let field = chunking.checksum?.field, let checksum {
            let text = checksum.text
            output += "\(field):\(text)\r\n".utf8
            if let (key, date, _) = chunking.signing {
                let hashes = [signature, Array("\(field):\(text)\n".utf8).sha256Text]
                signature = try key.signature(of: key.stringToSign(date, hashes, suffix: "-TRAILER"))
                output += "x-amz-trailer-signature:\(padded(signature))\r\n".utf8
            }
        }
        output += "\r\n".utf8
    }

    /// The signature in a length that is known in advance.
    private func padded(_ signature: String) -> String {
        let length = chunking.signing?.key.version.chunkSignatureLength ?? 0
        return signature + String(repeating: "*", count: max(0, length - signature.utf8.count))
    }
}
#endif
