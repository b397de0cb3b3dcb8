#if Auth
import FoundationEssentials
import Glibc
import HTTPTypes
import RxAuth
import RxNetworking
import RxTesting
import TestServers
import Testing

/// S3 by SeaweedFS, which verifies every signature, also those of chunks.
@Suite(.enabled(if: Service.programs != nil), .timeLimit(.minutes(2))) struct ObjectStoreTests {
    private static func signer(_ payload: AWSPayloadSigning = .automatic, secret: String = Service.secretKey)
        -> AWSSigner
    {
        .aws(
            service: "s3", region: "us-east-1",
            credentials: .keys(id: Service.accessKeyID, secret: secret), payload: payload)
    }

    private static func client(_ store: Service, _ signer: some RequestSigner) -> Client {
        var configuration = ClientConfiguration()
        configuration.signer = signer
        configuration.options.retry = .never
        return Client(baseURL: store.baseURL, configuration: configuration)
    }

    private static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    }

    private static func code(_ error: NetworkError?) -> String {
        let text = String(decoding: error?.body ?? [], as: UTF8.self)
        return text.split(separator: "<Code>").last?.split(separator: "<").first.map(String.init) ?? ""
    }

    /// Objects with names that need every kind of escape: put, read, read in part, listed, and removed.
    @Test func objects() async throws {
        let folder = try TemporaryFolder()
        let store = try await Service.objectStore(in: folder)
        let client = Self.client(store, Self.signer())
        let content = Self.bytes(100_000)
        for key in ["plain.txt", "a b+c=d&e/ä€日本🙂 (1)'!*~@:$,;", "x//y", "%41%2F?#[]"] {
            let path: PathValues = ["key": key]
            _ = try await client.put("/shelf/{key...}", at: path, .body(.bytes(content))).value()
            let read = try await client.get("/shelf/{key...}", at: path).value()
            #expect(read.body == content, "\(key)")
            let part = try await client.get(
                "/shelf/{key...}", at: path, headers: ["Range": "bytes=10-19", "X-Amz-Meta-Odd": "a   b"]
            ).value()
            #expect(part.status == .partialContent && part.body == Array(content[10...19]))
            let list = try await client.get(
                "/shelf", query: ["list-type": 2, "prefix": key, "encoding-type": "url"]
            ).value()
            #expect(String(decoding: list.body, as: UTF8.self).contains("<KeyCount>1</KeyCount>"), "\(key)")
            _ = try await client.delete("/shelf/{key...}", at: path).value()
            let error = await #expect(throws: NetworkError.self) {
                try await client.get("/shelf/{key...}", at: path).value()
            }
            #expect(error?.status == .notFound)
        }
    }

    private static let allPayloads: [AWSPayloadSigning] =
        [.hashed, .chunked] + AWSChecksum.allCases.map { .chunkedWithChecksum($0) }

    /// Every way to sign content, for content in memory, in a file and in a stream.
    @Test func payloads() async throws {
        let folder = try TemporaryFolder()
        let store = try await Service.objectStore(in: folder)
        for payload in Self.allPayloads {
            let client = Self.client(store, Self.signer(payload))
            for count in [0, 1, 65_536, 200_000] {
                let content = Self.bytes(count)
                for (index, body) in try Self.bodies(content, in: folder, for: payload).enumerated() {
                    _ = try await client.put("/shelf/{n}", at: ["n": index], .body(body)).value()
                    let read = try await client.get("/shelf/{n}", at: ["n": index]).value()
                    #expect(read.body == content, "\(payload), \(count) bytes, body \(index)")
                }
            }
        }
    }

    private static func bodies(
        _ content: [UInt8], in folder: TemporaryFolder, for payload: AWSPayloadSigning
    ) throws -> [Body] {
        let bodies: [Body] = [.bytes(content), .file(try folder.file("content", content))]
        // The hash of a stream must be known before it is sent.
        guard payload != .hashed else { return bodies }
        let pieces = stride(from: 0, to: content.count, by: 7000).map {
            Array(content[$0..<min($0 + 7000, content.count)])
        }
        return bodies + [.stream(.sequence(pieces), length: Int64(content.count))]
    }

    /// The store refuses a wrong secret, and content that has been changed on its way, whose chunks have other signatures.
    /// It does not compare the hash of whole content.
    @Test func changes() async throws {
        let folder = try TemporaryFolder()
        let store = try await Service.objectStore(in: folder)
        for payload in Self.allPayloads where payload != .hashed {
            let thief = Self.client(store, Self.signer(payload, secret: "guessed"))
            let error = await #expect(throws: NetworkError.self) {
                try await thief.put("/shelf/a", .body(.bytes(Self.bytes(1000)))).value()
            }
            #expect(error?.status == .forbidden && Self.code(error) == "SignatureDoesNotMatch")

            let intruder = Self.client(store, Tampering(signer: Self.signer(payload)))
            let change = await #expect(throws: NetworkError.self) {
                try await intruder.put("/shelf/a", .body(.bytes(Self.bytes(200_000)))).value()
            }
            #expect(change?.code == .status, "\(payload)")
            let missing = await #expect(throws: NetworkError.self) {
                try await Self.client(store, Self.signer()).get("/shelf/a").value()
            }
            #expect(missing?.status == .notFound, "\(payload)")
        }
    }

    /// An upload in three parts.
    @Test func parts() async throws {
        let folder = try TemporaryFolder()
        let store = try await Service.objectStore(in: folder)
        let client = Self.client(store, Self.signer())
        let begun = try await client.post("/shelf/large", query: ["uploads": ""]).value()
        let id = try #require(
            String(decoding: begun.body, as: UTF8.self).split(separator: "<UploadId>").last?
                .split(separator: "<").first.map(String.init))
        let content = Self.bytes(12 << 20)
        var list = ""
        for number in 1...3 {
            let part = Array(content[((number - 1) * 5 << 20)..<min(number * 5 << 20, content.count)])
            let response = try await client.put(
                "/shelf/large", .body(.stream(.just(part), length: Int64(part.count))),
                query: ["partNumber": number, "uploadId": id]
            ).value()
            let tag = try #require(response.head[.eTag])
            list += "<Part><PartNumber>\(number)</PartNumber><ETag>\(tag)</ETag></Part>"
        }
        let whole = "<CompleteMultipartUpload>\(list)</CompleteMultipartUpload>"
        _ = try await client.post(
            "/shelf/large", .body(.bytes(Array(whole.utf8)), contentType: "application/xml"),
            query: ["uploadId": id]
        ).value()
        let read = try await client.get("/shelf/large").value()
        #expect(read.body == content)
    }

    /// A link that others follow without a key: for one object and one method, as long as it is valid.
    @Test func links() async throws {
        let folder = try TemporaryFolder()
        let store = try await Service.objectStore(in: folder)
        let client = Self.client(store, Self.signer())
        let key = "reports/2026 (ä).txt"
        let upload = try client.presigned(.put("/shelf/{key...}", at: ["key": key]), for: .seconds(60))
        let others = Client(baseURL: store.baseURL)
        _ = try await others.put(upload.absoluteString, .text("hello")).value()
        let link = try client.presigned(.get("/shelf/{key...}", at: ["key": key]), for: .seconds(900))
        let read = try await others.get(link.absoluteString).value()
        #expect(String(decoding: read.body, as: UTF8.self) == "hello")
        for (method, other) in [
            (HTTPRequest.Method.get, link.absoluteString.replacing("2026", with: "2025")),
            (.delete, link.absoluteString),
            (.get, link.absoluteString.replacing("Expires=900", with: "Expires=9000")),
            (.get, store.baseURL + "/shelf"),
        ] {
            let error = await #expect(throws: NetworkError.self) {
                try await others.request(InlineEndpoint(method, other)).value()
            }
            #expect(error?.status == .forbidden, "\(method) \(other)")
        }
    }

    /// A link whose time is over is of no use, and one that was made as early and is valid for longer is.
    @Test func expiredLinks() async throws {
        let folder = try TemporaryFolder()
        let store = try await Service.objectStore(in: folder)
        _ = try await Self.client(store, Self.signer()).put("/shelf/a", .text("hello")).value()
        var configuration = ClientConfiguration(baseURL: store.baseURL)
        configuration.signer = Self.signer()
        let clock = VirtualScheduler(startingAt: Date().addingTimeInterval(-120))
        let past = Client(configuration: configuration, transport: ScriptedTransport(on: clock, []))
        let others = Client(baseURL: store.baseURL)
        let valid = try past.presigned(.get("/shelf/a"), for: .seconds(3600))
        #expect(
            String(decoding: try await others.get(valid.absoluteString).value().body, as: UTF8.self)
                == "hello")
        let expired = try past.presigned(.get("/shelf/a"), for: .seconds(60))
        let error = await #expect(throws: NetworkError.self) {
            try await others.get(expired.absoluteString).value()
        }
        #expect(error?.status == .forbidden && ["AccessDenied", "ExpiredToken"].contains(Self.code(error)))
    }

    /// The first lines of the page: the keys of the environment, and a link that others follow.
    @Test func firstLines() async throws {
        let folder = try TemporaryFolder()
        let store = try await Service.objectStore(in: folder)
        // `Tests/services.sh` runs one test at a time, and nothing else in this process reads these variables.
        for (name, value) in [
            ("AWS_ACCESS_KEY_ID", Service.accessKeyID), ("AWS_SECRET_ACCESS_KEY", Service.secretKey),
        ] { unsafe setenv(name, value, 1) }
        defer { for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] { unsafe unsetenv(name) } }
        var configuration = ClientConfiguration(baseURL: store.baseURL)
        configuration.signer = .aws(service: "s3", region: "eu-west-1", credentials: .environment)
        let client = Client(configuration: configuration)
        let key = "first lines/1.txt"
        _ = try await client.put("/shelf/{key...}", at: ["key": key], .text("hello")).value()
        let link = try client.presigned(.get("/shelf/{key...}", at: ["key": key]), for: .seconds(900))
        let read = try await Client(baseURL: store.baseURL).get(link.absoluteString).value()
        #expect(String(decoding: read.body, as: UTF8.self) == "hello")
    }

    /// A clock that is an hour late is corrected by the first refusal, once for all requests.
    @Test func lateClock() async throws {
        let folder = try TemporaryFolder()
        let store = try await Service.objectStore(in: folder)
        let client = Self.client(store, Late(signer: Self.signer()))
        for name in ["a", "b"] { _ = try await client.put("/shelf/\(name)", .text("x")).value() }
        let plain = Self.client(store, Late(signer: Self.signer(), corrects: false))
        let error = await #expect(throws: NetworkError.self) { try await plain.get("/shelf/a").value() }
        #expect(error?.status == .forbidden && Self.code(error) == "RequestTimeTooSkewed")
    }
}

/// Signs, and then changes a byte of the content.
private struct Tampering: RequestSigner {
    let signer: AWSSigner

    func sign(_ request: Request, in context: SigningContext) -> Observable<Request, NetworkError> {
        signer.sign(request, in: context).map { request in
            var changed = request
            switch request.body {
            case .empty: break
            case .bytes(var bytes):
                bytes[bytes.count / 2] ^= 1
                changed.body = .bytes(bytes)
            case .streamed(let body):
                let chunks: Observable<[UInt8], NetworkError> = body.open(context.files).flatMap { $0.chunks }
                let content: Observable<[UInt8], NetworkError> = chunks.collect().map { pieces in
                    var bytes = Array(pieces.joined())
                    bytes[bytes.count / 2] ^= 1
                    return bytes
                }
                changed.body = .stream(content, length: body.count)
            }
            return changed
        }
    }
}

/// Signs with a clock that is an hour late.
private struct Late: RequestSigner {
    let signer: AWSSigner
    var corrects = true

    func sign(_ request: Request, in context: SigningContext) -> Observable<Request, NetworkError> {
        signer.sign(request, in: late(context))
    }

    func receive(_ head: ResponseHead, to request: Request, in context: SigningContext) -> Bool {
        corrects && signer.receive(head, to: request, in: late(context))
    }

    private func late(_ context: SigningContext) -> SigningContext {
        var context = context
        context.date = context.date.addingTimeInterval(-3600)
        return context
    }
}
#endif
