public import RxLite

/// The protocol of an upload, with its options.
///
/// ```swift
/// client.upload(.file(path), to: .post("/files"), by: .resumable())
/// client.upload(.file(path), to: .post("/files"), by: .tus(metadata: ["filename": "tea.jpg"]))
/// ```
public struct UploadMethod: Sendable {
    /// The digest by which the whole content is proven.
    public enum Digest: Sendable {
        /// Computed before a file or bytes are sent, and while a stream is.
        case computed(TransferDigest.Algorithm)
        /// Known to the caller. Content with another one fails with `digestMismatch`, before anything is sent.
        case known(TransferDigest)
        /// None: nothing is read twice, and nothing is proven.
        case none
    }

    /// The options that all protocols share.
    public struct Options: Sendable {
        /// The most content of one request, in bytes. Default `nil`: as much as the server takes.
        public var partSize: Int64?
        /// The most bytes of a stream to keep for a repetition. Default 8 MiB.
        public var bufferSize: Int64 = 8 << 20
        /// The digest of the whole content. Default SHA-256.
        public var digest: Digest = .computed(.sha256)
        /// The algorithm of the digest that each request carries, if the protocol has one and the server supports it.
        /// Default none.
        public var partDigest: TransferDigest.Algorithm?
        /// The most failures in a row, of each part that is sent beside others, without progress between, after which the
        /// upload goes on. Default 5.
        public var retries = 5
        /// The wait after each failure; a server's `Retry-After` is the least wait. Default: full jitter from 300 ms up to
        /// 30 s.
        public var backoff: Backoff = .fullJitter()
        /// The limit of bytes per second, which other transfers may share. Default none.
        public var bandwidth: TransferBandwidth?

        /// Creates the default options.
        public init() {}
    }

    enum Kind: Sendable {
        case draft(isCareful: Bool, isKnown: Bool)
        case tus(metadata: [String: String], creationSize: Int64, concurrency: Int)
        case multipart(concurrency: Int)
    }

    let kind: Kind
    /// The options that all protocols share.
    public var options: Options

    /// Resumable uploads of the IETF (draft-ietf-httpbis-resumable-upload, interop version 8).
    ///
    /// The endpoint's request is sent with its method. A server that does not know the protocol takes it as an ordinary
    /// upload, which cannot go on after an interruption. Content in several requests is sent only to a server that announces
    /// the protocol (`Upload-Limit` in the response to OPTIONS).
    ///
    /// - Parameters:
    ///   - isCareful: whether an empty request creates the upload, so that no content is lost if no informational response
    ///     arrives. Default false.
    ///   - isKnown: whether the server is known to support the protocol, so that it is not asked by OPTIONS. Default false.
    ///   - options: the options that all protocols share.
    public static func resumable(
        isCareful: Bool = false, isKnown: Bool = false, options: Options = Options()
    ) -> UploadMethod {
        UploadMethod(kind: .draft(isCareful: isCareful, isKnown: isKnown), options: options)
    }

    /// tus 1.0.0 (https://tus.io).
    ///
    /// - Parameters:
    ///   - metadata: the metadata of the upload, such as `filename` and `filetype`; keys are ASCII without blanks and
    ///     commas.
    ///   - creationSize: content up to this size is sent with the request that creates the upload, if the server offers
    ///     that. Default 1 MiB.
    ///   - concurrency: the partial uploads at the same time of a file or bytes, which the server joins, if it offers that
    ///     (concatenation); each has at least ``Options/partSize``, or 1 MiB. Default 1: one upload.
    ///   - options: the options that all protocols share.
    public static func tus(
        metadata: [String: String] = [:], creationSize: Int64 = 1 << 20, concurrency: Int = 1,
        options: Options = Options()
    ) -> UploadMethod {
        UploadMethod(
            kind: .tus(metadata: metadata, creationSize: creationSize, concurrency: concurrency),
            options: options)
    }

    /// Multipart uploads of S3 and of servers with its interface.
    ///
    /// The endpoint is the object: `.put("/bucket/{key...}", at: ["key": key])`. The client's signer signs each request
    /// (`AWSSigner`). The parts are sent side by side, sized so that there are at most 10,000; all but the last have at least
    /// 5 MiB, which servers require of ``Options/partSize``, too. Without a record a cancelled upload is aborted, so that its
    /// parts cost nothing.
    ///
    /// - Parameters:
    ///   - concurrency: the most requests at the same time. Default 4. A stream has fewer if their parts, and one more that is
    ///     being read, would need more than 32 MiB.
    ///   - options: the options that all protocols share. With ``Options/partDigest`` SHA-256, CRC-32C, CRC-32 or
    ///     CRC-64/NVME the server compares a checksum of each part, and with MD5 `Content-MD5`.
    public static func multipart(concurrency: Int = 4, options: Options = Options()) -> UploadMethod {
        UploadMethod(kind: .multipart(concurrency: concurrency), options: options)
    }
}
