#if Auth
import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Testing

@testable import RxAuth

/// Content that is signed while it is sent.
@Suite struct AWSChunkTests {
    private let clock = VirtualScheduler()

    private static let credential = AWSCredential(
        accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    private static let date = AWSDate(Date(timeIntervalSince1970: 1_369_353_600))

    private func chunking(
        _ version: AWSSignatureVersion = .v4, seed: String, _ checksum: AWSChecksum? = nil
    ) throws -> AWSChunking {
        let key = try AWSSigningKey(
            version, of: Self.credential, day: Self.date.day, region: "us-east-1", service: "s3")
        return AWSChunking(signing: (key, Self.date, seed), checksum: checksum)
    }

    private func coded(_ chunking: AWSChunking, _ chunks: [[UInt8]]) throws -> (text: String, length: Int64?)
    {
        let length = chunks.reduce(0) { $0 + Int64($1.count) }
        let content = chunking.coded(.sequence(chunks), length: length)
        let recorder = Recorder(content.chunks, on: clock)
        try clock.run()
        try #require(recorder.isFinished)
        return (String(decoding: recorder.values.joined(), as: UTF8.self), content.length)
    }

    /// 65 KiB of the letter a, as in the guide of S3.
    private static let example = [UInt8](repeating: UInt8(ascii: "a"), count: 66560)

    /// From the guide of S3 ("Signature calculations: transferring payload in multiple chunks").
    /// The chunks of the guide of S3, however the content arrives.
    @Test(arguments: [1, 1000, 65536, 66560])
    func guide(size: Int) throws {
        let chunking = try chunking(seed: "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9")
        let pieces = stride(from: 0, to: Self.example.count, by: size).map {
            Array(Self.example[$0..<min($0 + size, Self.example.count)])
        }
        let (text, length) = try coded(chunking, pieces)
        #expect(length == 66824)
        #expect(
            text
                == "10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n"
                + String(repeating: "a", count: 65536)
                + "\r\n400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n"
                + String(repeating: "a", count: 1024)
                + "\r\n0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n\r\n"
        )
    }

    /// From the guide of S3 ("Signature calculations: including trailing headers").
    /// The trailer of the guide of S3.
    @Test func trailer() throws {
        let chunking = try chunking(
            seed: "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e", .crc32c)
        let (text, length) = try coded(chunking, [Self.example])
        let lines = text.components(separatedBy: "\r\n")
        #expect(length == Int64(text.utf8.count))
        #expect(
            lines[0]
                == "10000;chunk-signature=b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2")
        #expect(
            lines[2] == "400;chunk-signature=1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7"
        )
        #expect(
            lines[4] == "0;chunk-signature=2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992")
        #expect(lines[5] == "x-amz-checksum-crc32c:sOO8/Q==")
        #expect(
            lines[6]
                == "x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435")
        #expect(lines[7...] == ["", ""])
    }

    /// The length is known in advance.
    @Test(arguments: [0, 1, 15, 16, 65535, 65536, 65537, 131_072, 200_000])
    func length(count: Int) throws {
        let content = [UInt8](repeating: 7, count: count)
        for checksum in [nil] + AWSChecksum.allCases.map(Optional.some) {
            var chunkings = [
                try chunking(seed: "s", checksum), try chunking(.v4a, seed: "s", checksum),
                AWSChunking(signing: nil, checksum: checksum),
            ]
            chunkings.removeAll { $0.signing == nil && $0.checksum == nil }
            for chunking in chunkings {
                let (text, length) = try coded(chunking, count == 0 ? [] : [content])
                #expect(length == Int64(text.utf8.count))
            }
        }
    }

    /// Chunks without signatures end with the checksum.
    @Test func unsigned() throws {
        let chunking = AWSChunking(signing: nil, checksum: .sha256)
        let (text, _) = try coded(chunking, [Array("hello".utf8)])
        #expect(
            text
                == "5\r\nhello\r\n0\r\nx-amz-checksum-sha256:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=\r\n\r\n"
        )
    }

    /// A failure of the content is that of the coded content.
    @Test func failure() throws {
        let chunking = AWSChunking(signing: nil, checksum: .crc32)
        let failing = Observable<[UInt8], NetworkError>.concat([
            .just([1]), .fail(NetworkError(.file, "gone")),
        ])
        let recorder = Recorder(chunking.coded(failing, length: 2).chunks, on: clock)
        try clock.run()
        #expect(recorder.failure?.code == .file && recorder.values.isEmpty)
    }

    /// The check values of the catalogue of CRC algorithms, and FIPS 180-4.
    /// Checksums of the digits 1 to 9.
    @Test func checksums() {
        let texts: [AWSChecksum: String] = [
            .crc32: "y/Q5Jg==", .crc32c: "4waSgw==", .crc64nvme: "rosUhgp5mIg=",
            .sha1: "98O8HYCOBHMq32eZZczDTKeuNEE=", .sha256: "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=",
        ]
        for checksum in AWSChecksum.allCases {
            var running = AWSChecksum.Running(checksum)
            running.update(Array("1234".utf8))
            running.update(Array("56789".utf8))
            #expect(running.text == texts[checksum])
            #expect(running.text.utf8.count == checksum.textLength)
        }
    }
}
#endif
