#if Auth
import Foundation
import RxAuth
import RxNetworking
import TestServers
import Testing

/// Signed requests to an object store that verifies them.
@Suite(.enabled(if: Service.programs != nil), .timeLimit(.minutes(2))) struct ObjectStoreTests {
    private static let (id, secret) = ("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")

    private func client(
        of store: Service, _ payload: AWSPayloadSigning = .automatic, secret: String = Self.secret
    ) -> Client {
        var configuration = ClientConfiguration(baseURL: store.baseURL)
        configuration.signer = .aws(
            service: "s3", region: "us-east-1", credentials: .keys(id: Self.id, secret: secret),
            payload: payload)
        configuration.options.retry = .never
        return Client(configuration: configuration)
    }

    private static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    }

    /// Objects are put, read in parts, listed and removed, with keys of every kind.
    @Test func objects() async throws {
        let folder = try TemporaryFolder()
        let store = try await Service.objectStore(in: folder, accessKeyID: Self.id, secret: Self.secret)
        let client = client(of: store)
        _ = try await client.put("/bucket").value()
        for key in ["tea.txt", "a b/ü+(1)!*'.txt", "x/~$&,:;=@.y", "2026/07/%41"] {
            let path: PathValues = ["key": key]
            let body = Body.text("content of \(key)")
            _ = try await client.put("/bucket/{key...}", at: path, .body(body)).value()
            let whole = try await client.get("/bucket/{key...}", at: path).value()
            #expect(String(decoding: whole.body, as: UTF8.self) == "content of \(key)")
            let part = try await client.get("/bucket/{key...}", at: path, headers: ["Range": "bytes=0-6"])
                .value()
            #expect(part.status == .partialContent && part.body == Array("content".utf8))
            _ = try await client.head("/bucket/{key...}", at: path).value()
        }
        let list = try await client.get(
            "/bucket", query: ["list-type": 2, "prefix": "a b/", "delimiter": ""]
        ).value()
        #expect(String(decoding: list.body, as: UTF8.self).contains("<KeyCount>1</KeyCount>"))
        _ = try await client.delete("/bucket/tea.txt").value()
        await #expect(throws: NetworkError.self) { try await client.get("/bucket/tea.txt").value() }
        let stranger = self.client(of: store, secret: "other")
        let refusal = await #expect(throws: NetworkError.self) { try await stranger.get("/bucket").value() }
        #expect(refusal?.status == .forbidden)
    }

    /// Streamed content arrives as it was, signed in each way.
    @Test(
        arguments: [
            .automatic, .hashed, .chunked, .chunkedWithChecksum(.crc32), .chunkedWithChecksum(.crc32c),
            .chunkedWithChecksum(.sha256),
        ] as [AWSPayloadSigning])
    func streams(_ payload: AWSPayloadSigning) async throws {
        let folder = try TemporaryFolder()
        let store = try await Service.objectStore(in: folder, accessKeyID: Self.id, secret: Self.secret)
        let client = client(of: store, payload)
        _ = try await client.put("/bucket").value()
        for count in [1, 65_536, 200_001] {
            let content = Self.bytes(count)
            let pieces = stride(from: 0, to: count, by: 50_000).map {
                Array(content[$0..<min($0 + 50_000, count)])
            }
            let body = Body.stream(.sequence(pieces), length: Int64(count), isReplayable: true)
            _ = try await client.put("/bucket/stream", .body(body)).value()
            #expect(try await client.get("/bucket/stream").value().body == content)
            let file = try folder.file("upload", content)
            _ = try await client.put("/bucket/file", .body(.file(file))).value()
            #expect(try await client.get("/bucket/file").value().body == content)
        }
    }

    /// An object is uploaded in several parts.
    @Test func multipart() async throws {
        let folder = try TemporaryFolder()
        let store = try await Service.objectStore(in: folder, accessKeyID: Self.id, secret: Self.secret)
        let client = client(of: store)
        _ = try await client.put("/bucket").value()
        let begun = try await client.post("/bucket/large?uploads").value()
        let text = String(decoding: begun.body, as: UTF8.self)
        let upload = String(try #require(text.firstMatch(of: #/<UploadId>([^<]+)<\/UploadId>/#)).1)
        let parts = [Self.bytes(5 << 20), Self.bytes(1000)]
        var list = "<CompleteMultipartUpload>"
        for (index, part) in parts.enumerated() {
            let response = try await client.put(
                "/bucket/large", .body(.bytes(part)), query: ["partNumber": index + 1, "uploadId": upload]
            ).value()
            let tag = try #require(response.head[.eTag])
            list += "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(tag)</ETag></Part>"
        }
        list += "</CompleteMultipartUpload>"
        _ = try await client.post("/bucket/large", .text(list), query: ["uploadId": upload]).value()
        #expect(try await client.get("/bucket/large").value().body == parts[0] + parts[1])
    }

    /// A presigned URL needs no key, and ends.
    @Test func presigned() async throws {
        let folder = try TemporaryFolder()
        let store = try await Service.objectStore(in: folder, accessKeyID: Self.id, secret: Self.secret)
        let client = client(of: store)
        _ = try await client.put("/bucket").value()
        let plain = Client(baseURL: store.baseURL)
        let key: PathValues = ["key": "a b/ü(1).txt"]
        let upload = try client.presigned(
            .put("/bucket/{key...}", at: key, headers: ["Content-Type": "text/x-tea"]), for: .seconds(60))
        let content = Parameters.body(.text("hello"))
        let fields: Headers = ["Content-Type": "text/x-tea"]
        _ = try await plain.put(upload.absoluteString, content, headers: fields).value()
        let link = try client.presigned(.get("/bucket/{key...}", at: key), for: .seconds(60))
        let response = try await plain.get(link.absoluteString).value()
        #expect(response.body == Array("hello".utf8) && response.head[.contentType] == "text/x-tea")
        let other = link.absoluteString.replacing("a%20b", with: "a%20c")
        for url in [other, upload.absoluteString] {
            let refusal = await #expect(throws: NetworkError.self) {
                try await plain.get(url, options: RequestOptions(retry: .never)).value()
            }
            #expect(refusal?.status == .forbidden)
        }
    }
}
#endif
