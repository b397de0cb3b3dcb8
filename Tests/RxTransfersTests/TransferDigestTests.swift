import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Testing

@testable import RxTransfers

/// Digests by their published vectors, in pieces, and the fields that carry them.
@Suite struct TransferDigestTests {
    /// The check values of the algorithms' definitions for `123456789`.
    @Test(
        arguments: [
            (.crc32, "cbf43926"), (.crc32c, "e3069283"), (.crc64nvme, "ae8b14860a799888"),
            (.sha1, "f7c3bc1d808e04732adf679965ccc34ca7ae3441"),
            (.md5, "25f9e794323b453885f5181f1b624d0b"),
            (.sha256, "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225"),
            (
                .sha512,
                "d9e6762dd1c8eaf6d61b3c6192fc408d4d6d5f1176d0c29169bc24e71c3f274a"
                    + "d27fcd5811b313d681f7e55ec02d73d499c95455b6b5bb503acf574fba8ffe85"
            ),
        ] as [(TransferDigest.Algorithm, String)])
    func vectors(_ algorithm: TransferDigest.Algorithm, _ digits: String) {
        let content = Array("123456789".utf8)
        #expect(TransferDigest(of: content, algorithm).hexadecimal == digits)
        #expect(TransferDigest(algorithm, hexadecimal: digits.uppercased())?.hexadecimal == digits)
        var running = TransferDigest.Running(algorithm)
        for byte in content { running.update([byte]) }
        #expect(running.finished.hexadecimal == digits)
        #expect(TransferDigest(algorithm, base64: running.finished.base64) == running.finished)
    }

    /// A digest by another algorithm than that of a record, whose name may begin with the other's, says nothing about it.
    @Test(arguments: TransferDigest.Algorithm.allCases, TransferDigest.Algorithm.allCases)
    func records(_ stored: TransferDigest.Algorithm, _ wanted: TransferDigest.Algorithm) {
        var identity = ContentIdentity(size: 1)
        identity.digest = TransferDigest(of: [1], wanted)
        var record = UploadRecord(method: "tus", target: "t", location: "u")
        record.digest = TransferDigest(of: [1], stored).description
        #expect(identity.matches(record))
        record.digest = TransferDigest(of: [2], stored).description
        #expect(identity.matches(record) == (stored != wanted))
    }

    /// Pieces of any size give the digest of the whole.
    @Test(arguments: TransferDigest.Algorithm.allCases)
    func pieces(_ algorithm: TransferDigest.Algorithm) {
        for length in [0, 1, 55, 56, 63, 64, 65, 111, 112, 127, 128, 129, 500] {
            let content = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            let whole = TransferDigest(of: content, algorithm)
            for size in [1, 3, 64, 100] {
                var running = TransferDigest.Running(algorithm)
                for start in stride(from: 0, to: length, by: size) {
                    running.update(content[start..<min(start + size, length)])
                }
                #expect(running.finished == whole)
            }
            if algorithm == .md5 { #expect(whole.hexadecimal == HexDigest.md5(content)) }
        }
    }

    /// Text of another length is no digest.
    @Test func malformedDigests() {
        #expect(TransferDigest(.crc32, hexadecimal: "cbf4392") == nil)
        #expect(TransferDigest(.crc32, hexadecimal: "cbf4392g") == nil)
        #expect(TransferDigest(.crc32, hexadecimal: "cbf4392600") == nil)
        #expect(TransferDigest(.md5, base64: "AAAA") == nil)
        #expect(TransferDigest(.md5, base64: String(repeating: "A", count: 1 << 20)) == nil)
    }

    /// The fields of a response, with what they belong to.
    @Test func fields() throws {
        let content = Array("abc".utf8)
        let sha = TransferDigest(of: content, .sha256)
        let md5 = TransferDigest(of: content, .md5)
        let crc = TransferDigest(of: content, .crc64nvme)
        let head = ResponseHead(
            status: .ok,
            headerFields: [
                .contentDigest: "md5=:AAAA:, sha-512=:AA==:, \(sha.fieldValue), x;y=1",
                .reprDigest: "nonsense, =", .contentMD5: md5.base64, .checksum("crc64nvme"): crc.base64,
            ])
        #expect(DigestFields(head).content == [sha, md5])
        #expect(DigestFields(head).representation == [crc])
        var composite = head.headerFields
        composite[.checksumType] = "COMPOSITE"
        #expect(DigestFields(ResponseHead(status: .ok, headerFields: composite)).representation.isEmpty)
        composite[.contentEncoding] = "gzip"
        #expect(DigestFields(ResponseHead(status: .ok, headerFields: composite)).content.isEmpty)
    }

    /// A wrong byte fails with `digestMismatch`; the strongest digest counts as the proof.
    @Test func check() throws {
        let content = Array("abc".utf8)
        let expected = [TransferDigest(of: content, .crc32), TransferDigest(of: content, .sha256)]
        var right = DigestCheck(expected)
        var wrong = right
        right.update(content)
        wrong.update(Array("abd".utf8))
        #expect(try right.finish(of: "the file") == expected[1])
        #expect(throws: NetworkError.self) { try wrong.finish(of: "the file") }
        do throws(NetworkError) { _ = try wrong.finish(of: "the file") } catch {
            #expect(error.code == .digestMismatch)
        }
        #expect(try DigestCheck([]).finish(of: "the file") == nil)
    }

    /// The digest of a part of a file.
    @Test func files() throws {
        let clock = VirtualScheduler()
        let files = MemoryFileSystem(on: clock, pieceSize: 7)
        let content = (0..<100).map { UInt8($0) }
        files["/f"] = content
        let recorder = Recorder(files.digests(of: "/f", [.sha256, .crc32c], from: 10, count: 50), on: clock)
        try clock.run()
        #expect(
            recorder.values.first == [
                TransferDigest(of: content[10..<60], .sha256), TransferDigest(of: content[10..<60], .crc32c),
            ])
    }
}
