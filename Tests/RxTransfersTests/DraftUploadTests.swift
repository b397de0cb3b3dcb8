import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Testing

@testable import RxTransfers

/// Resumable uploads of the IETF's draft in virtual time: the rules of its text one by one.
@Suite struct DraftUploadTests {
    private static let place = ["Location": "/uploads/7"]
    private static let complete = ["Upload-Complete": "?1"]

    /// Without an interruption there is one request, with the fields of the text; the record comes and goes.
    @Test func wholeInOneRequest() throws {
        let fixture = UploadFixture([
            .interim(Self.place, then: [.wait(.seconds(1))] + .response(201, Self.complete))
        ])
        let recorder = fixture.start()
        try fixture.clock.advance(by: .milliseconds(500))
        #expect(fixture.files.paths.count == 3, "\(fixture.files.paths)")
        try fixture.clock.run()
        #expect(recorder.kinds == ["started 0", "finished 201"])
        #expect(
            fixture.sent("Upload-Complete", "Upload-Length", "Upload-Draft-Interop-Version") == [
                "POST /films Upload-Complete=?1 Upload-Length=100 Upload-Draft-Interop-Version=8"
            ])
        #expect(fixture.files.paths == ["/d/f"])
        #expect(fixture.files.lockedPaths.isEmpty)
    }

    /// A server that does not know the protocol takes the upload as an ordinary one.
    @Test func conventionalServer() throws {
        let fixture = UploadFixture([.reply(200, [:], "ok")])
        let recorder = fixture.start()
        try fixture.clock.run()
        #expect(recorder.kinds == ["started 0", "finished 200"])
        #expect(fixture.counts == [100])
    }

    /// After a cut the server is asked for the offset, and gets the rest from there.
    @Test func resumption() throws {
        let fixture = UploadFixture([
            .interim(Self.place, then: .lost), .reply(204, ["Upload-Offset": "40", "Upload-Complete": "?0"]),
            .reply(200, Self.complete),
        ])
        let recorder = fixture.start()
        try fixture.clock.run()
        #expect(recorder.kinds == ["started 0", "paused connectionLost 1.0", "resumed 40", "finished 200"])
        #expect(
            fixture.sent("Upload-Offset", "Upload-Complete", "Content-Type") == [
                "POST /films Upload-Complete=?1 Content-Type=application/octet-stream", "HEAD /uploads/7",
                "PATCH /uploads/7 Upload-Offset=40 Upload-Complete=?1 Content-Type=application/partial-upload",
            ])
        #expect(fixture.counts == [100, 0, 60])
        #expect(recorder.progress.last == 100)
    }

    /// A 104 of another version, or of none, counts as none: then nothing is known to go on from, and a POST that may have
    /// arrived is not repeated.
    @Test(arguments: ["7", "9", "?1", ""])
    func otherVersions(version: String) throws {
        var fields = Self.place
        fields["Upload-Draft-Interop-Version"] = version
        let fixture = UploadFixture([
            .interim(fields, then: [.uploaded(bytes: 100, of: 100)] + .lost)
        ])
        let recorder = fixture.start()
        try fixture.clock.run()
        #expect(recorder.failure?.code == .connectionLost)
        #expect(fixture.sent() == ["POST /films"])
        #expect(fixture.files.paths == ["/d/f"])
    }

    /// Without a place to ask at, a request is repeated if it was not sent as a whole, or may be sent twice.
    @Test(arguments: [(60, false, 2), (100, false, 1), (100, true, 2)])
    func lostBeforeThePlace(sent: Int64, isIdempotent: Bool, requests: Int) throws {
        let fixture = UploadFixture([
            .init([.uploaded(bytes: sent, of: 100)] + .lost), .reply(200, Self.complete),
        ])
        let recorder = fixture.start(
            to: .post("/films", options: RequestOptions(isIdempotent: isIdempotent)))
        try fixture.clock.run()
        #expect(fixture.transport.requests.count == requests)
        #expect(recorder.isFinished == (requests == 2))
    }

    /// A 409 carries the right offset, which is used without another question.
    @Test func mismatch() throws {
        let fixture = UploadFixture([
            .interim(Self.place, then: .lost), .reply(204, ["Upload-Offset": "40", "Upload-Complete": "?0"]),
            .reply(409, ["Upload-Offset": "60", "Upload-Complete": "?0"]), .reply(200, Self.complete),
        ])
        let recorder = fixture.start()
        try fixture.clock.run()
        #expect(recorder.isFinished)
        #expect(
            fixture.sent("Upload-Offset") == [
                "POST /films", "HEAD /uploads/7", "PATCH /uploads/7 Upload-Offset=40",
                "PATCH /uploads/7 Upload-Offset=60",
            ])
        #expect(fixture.counts.last == 40)
    }

    /// An offset beyond the content fails, and the upload is deleted.
    @Test func offsetBeyondTheContent() throws {
        let fixture = UploadFixture([
            .interim(Self.place, then: .lost),
            .reply(204, ["Upload-Offset": "101", "Upload-Complete": "?0"]),
            .reply(204),
        ])
        let recorder = fixture.start()
        try fixture.clock.run()
        #expect(recorder.failure?.code == .invalidResponse)
        #expect(fixture.sent() == ["POST /films", "HEAD /uploads/7", "DELETE /uploads/7"])
        #expect(fixture.files.paths == ["/d/f"])
    }

    /// Two places for one upload fail; the first is deleted.
    @Test func theLocationStaysTheSame() throws {
        let fixture = UploadFixture([
            .reply(204, ["Upload-Limit": "min-size=0"]),
            .interim(
                Self.place, then: .response(201, ["Location": "/uploads/8", "Upload-Complete": "?0"])),
            .reply(204),
        ])
        let recorder = fixture.start(by: .plain(partSize: 60))
        try fixture.clock.run()
        #expect(recorder.failure?.code == .invalidResponse)
        #expect(fixture.sent() == ["OPTIONS /films", "POST /films", "DELETE /uploads/7"])
    }

    /// Parts are sent only to a server that announces the protocol.
    @Test func partsNeedAnAnnouncement() throws {
        let fixture = UploadFixture([.reply(204)])
        let recorder = fixture.start(by: .plain(partSize: 60))
        try fixture.clock.run()
        #expect(recorder.failure?.code == .invalidResponse)
        #expect(fixture.sent() == ["OPTIONS /films"])
    }

    /// Content in parts, the last of which completes the upload.
    @Test func parts() throws {
        let fixture = UploadFixture([
            .reply(204, ["Upload-Limit": "min-size=0"]),
            .reply(201, ["Location": "/uploads/7", "Upload-Complete": "?0"]),
            .reply(204, ["Upload-Complete": "?0"]), .reply(200, Self.complete),
        ])
        let recorder = fixture.start(by: .plain(partSize: 40))
        try fixture.clock.run()
        #expect(recorder.kinds == ["started 0", "finished 200"])
        #expect(
            fixture.sent("Upload-Offset", "Upload-Complete", "Upload-Length") == [
                "OPTIONS /films", "POST /films Upload-Complete=?0 Upload-Length=100",
                "PATCH /uploads/7 Upload-Offset=40 Upload-Complete=?0 Upload-Length=100",
                "PATCH /uploads/7 Upload-Offset=80 Upload-Complete=?1",
            ])
        #expect(fixture.counts == [0, 40, 40, 20])
    }

    /// A 413 makes the requests smaller: to the announced size, or by half.
    @Test(arguments: [("max-append-size=30", [100, 0, 30, 30, 30, 10]), ("min-size=0", [100, 0, 50, 50])])
    func smallerParts(limit: String, counts: [Int64]) throws {
        let fixture = UploadFixture { request, index in
            let count = request.body.count ?? 0
            switch (index, request.method) {
            case (0, _): return .reply(413, ["Upload-Limit": limit])
            case (1, _): return .reply(204, ["Upload-Limit": limit])
            case (2, _): return .reply(201, ["Location": "/uploads/7", "Upload-Complete": "?0"])
            default:
                let isLast = request.headerFields[.uploadComplete] == "?1"
                return .reply(isLast ? 200 : 204, ["Upload-Complete": isLast ? "?1" : "?0", "X": "\(count)"])
            }
        }
        let recorder = fixture.start()
        try fixture.clock.run()
        #expect(recorder.isFinished, "\(String(describing: recorder.failure))")
        #expect(fixture.counts == counts)
    }

    /// Limits that the content exceeds stop the running request, and delete the upload.
    @Test func tooLarge() throws {
        let fixture = UploadFixture([
            .interim(["Location": "/uploads/7", "Upload-Limit": "max-size=99"], then: [.stall]), .reply(204),
        ])
        let recorder = fixture.start()
        try fixture.clock.run()
        #expect(recorder.failure?.code == .tooLarge)
        #expect(fixture.sent() == ["POST /films", "DELETE /uploads/7"])
        #expect(fixture.transport.runningCount == 0)
    }

    /// A limit for requests that comes in a 104 stops the larger request before the offset is asked for.
    @Test func aLimitStopsALargerRequest() throws {
        let fixture = UploadFixture([
            .interim(["Location": "/uploads/7", "Upload-Limit": "max-append-size=60, x=?1"], then: [.stall]),
            .reply(204, ["Upload-Offset": "30", "Upload-Complete": "?0"]),
            .reply(204, ["Upload-Complete": "?0"]), .reply(200, Self.complete),
        ])
        let recorder = fixture.start()
        try fixture.clock.run()
        #expect(recorder.isFinished)
        #expect(fixture.counts == [100, 0, 60, 10])
        #expect(fixture.transport.exchanges[0].outcome == .cancelled)
    }

    /// A response that was lost is asked for again, by a request that completes what is complete.
    @Test func lostResult() throws {
        let fixture = UploadFixture([
            .interim(Self.place, then: [.uploaded(bytes: 100, of: 100)] + .lost),
            .reply(204, ["Upload-Offset": "100", "Upload-Complete": "?1"]),
            .reply(200, Self.complete, "made"),
        ])
        let recorder = fixture.start()
        try fixture.clock.run()
        guard case .finished(let response) = recorder.values.last else {
            Issue.record("no result: \(String(describing: recorder.failure))")
            return
        }
        #expect(response.text == "made")
        #expect(
            fixture.sent("Upload-Offset", "Upload-Complete").last
                == "PATCH /uploads/7 Upload-Offset=100 Upload-Complete=?1")
    }

    /// A refusal is final after a lost response was asked for, if the upload is a new one, or not complete after all.
    @Test(arguments: [true, false])
    func refusalAfterALostResult(isNew: Bool) throws {
        let rest = ["Upload-Offset": "40", "Upload-Complete": "?0"]
        var replies: [ScriptedTransport.Reply] = [
            .interim(Self.place, then: [.uploaded(bytes: 100, of: 100)] + .lost),
            .reply(204, ["Upload-Offset": "100", "Upload-Complete": "?1"]), .reply(404),
        ]
        replies += isNew ? [.reply(404), .reply(201, Self.place.merging(rest) { $1 })] : [.reply(204, rest)]
        let fixture = UploadFixture(replies + [.reply(403)])
        let recorder = fixture.start(to: .post("/films", options: RequestOptions(isIdempotent: true)))
        try fixture.clock.run()
        #expect(recorder.failure?.status?.code == 403)
        #expect(fixture.sent().suffix(2) == [isNew ? "POST /films" : "HEAD /uploads/7", "PATCH /uploads/7"])
    }

    /// An error of the endpoint, after everything has arrived, is final.
    @Test func theEndpointRefuses() throws {
        let fixture = UploadFixture([.interim(Self.place, then: .response(500, Self.complete))])
        let recorder = fixture.start()
        try fixture.clock.run()
        #expect(recorder.failure?.code == .status)
        #expect(fixture.transport.requests.count == 1)
    }

    /// The offset in a 104 counts as confirmed, so that failures with progress between do not add up.
    @Test func progressForgivesFailures() throws {
        let fixture = UploadFixture { request, index in
            if request.method == .head {
                return .reply(204, ["Upload-Offset": "\(index * 5)", "Upload-Complete": "?0"])
            }
            if index >= 16 { return .reply(200, Self.complete) }
            return index == 0
                ? .interim(Self.place, then: .lost)
                : .interim(["Upload-Offset": "\(index * 5 + 2)"], then: .lost)
        }
        let recorder = fixture.start(by: .plain(retries: 2))
        try fixture.clock.run()
        #expect(recorder.isFinished, "\(String(describing: recorder.failure))")
    }

    /// Without progress the last failure ends the upload, and the record stays for another run.
    @Test func failuresWithoutProgress() throws {
        let fixture = UploadFixture { request, index in
            if request.method == .head {
                return .reply(204, ["Upload-Offset": "0", "Upload-Complete": "?0"])
            }
            return index == 0 ? .interim(Self.place, then: .lost) : .failure(.connectionLost)
        }
        let recorder = fixture.start(by: .plain(retries: 2))
        try fixture.clock.run()
        #expect(recorder.failure?.code == .connectionLost)
        #expect(fixture.sent().count == 5)
        #expect(fixture.files.paths.count == 2)
    }

    /// Another run goes on from the record, and an unchanged file.
    @Test func anotherRun() throws {
        let fixture = UploadFixture([
            .interim(Self.place, then: [.stall]),
            .reply(204, ["Upload-Offset": "40", "Upload-Complete": "?0"]), .reply(200, Self.complete),
        ])
        let first = fixture.start()
        try fixture.clock.advance(by: .seconds(1))
        let second = fixture.start()
        try fixture.clock.advance(by: .seconds(1))
        #expect(second.failure?.code == .locked)
        first.cancel()
        try fixture.clock.advance(by: .seconds(1))
        #expect(fixture.files.lockedPaths.isEmpty)
        let third = fixture.start()
        try fixture.clock.run()
        #expect(third.kinds == ["started 40", "finished 200"])
        #expect(fixture.counts == [100, 0, 60])
        #expect(fixture.files.paths == ["/d/f"])
    }

    private static func lasting(_ seconds: Int) -> [String: String] {
        [
            "Upload-Complete": "?0", "Upload-Limit": "max-age=\(seconds)",
            "Date": "Thu, 01 Jan 2026 00:00:00 GMT",
        ]
    }

    /// A response that keeps the upload for longer moves the end of the record.
    @Test(arguments: [true, false])
    func maxAge(isMoved: Bool) throws {
        let fixture = UploadFixture([
            .reply(201, Self.lasting(100).merging(["Location": "/uploads/7"]) { $1 }),
            .reply(204, Self.lasting(isMoved ? 800 : 100)), .stall, .stall,
        ])
        let first = fixture.start(by: .plain(isKnown: true, partSize: 40))
        try fixture.clock.advance(by: .seconds(1))
        first.cancel()
        try fixture.clock.advance(by: .seconds(200))
        let second = fixture.start(by: .plain(isKnown: true, partSize: 40))
        try fixture.clock.run()
        #expect(!second.isFinished)
        #expect(fixture.sent().last == (isMoved ? "HEAD /uploads/7" : "POST /films"))
    }

    /// A run that goes on from a record moves its end, too.
    @Test func maxAgeInAnotherRun() throws {
        let fixture = UploadFixture([
            .reply(201, Self.lasting(100).merging(["Location": "/uploads/7"]) { $1 }), .stall,
            .reply(204, Self.lasting(800).merging(["Upload-Offset": "40"]) { $1 }), .stall, .stall,
        ])
        for seconds in [50, 200] {
            let recorder = fixture.start(by: .plain(isKnown: true, partSize: 40))
            try fixture.clock.advance(by: .seconds(1))
            recorder.cancel()
            try fixture.clock.advance(by: .seconds(seconds))
        }
        let third = fixture.start(by: .plain(isKnown: true, partSize: 40))
        try fixture.clock.run()
        #expect(!third.isFinished)
        #expect(
            fixture.sent().prefix(5) == [
                "POST /films", "PATCH /uploads/7", "HEAD /uploads/7", "PATCH /uploads/7", "HEAD /uploads/7",
            ])
    }

    /// A file that has changed since is refused, whether its size, its time or its digest tells.
    @Test(arguments: [true, false])
    func changedFile(hasDigest: Bool) throws {
        let fixture = UploadFixture([.interim(Self.place, then: [.stall]), .stall])
        var method = UploadMethod.plain()
        if hasDigest { method.options.digest = .computed(.sha256) }
        let first = fixture.start(by: method)
        try fixture.clock.advance(by: .seconds(1))
        first.cancel()
        try fixture.clock.advance(by: .seconds(1))
        // The same bytes at another time are the same content only for a digest.
        fixture.files["/d/f"] = UploadFixture.content
        let touched = fixture.start(by: method)
        try fixture.clock.advance(by: .seconds(1))
        #expect(touched.failure?.code == (hasDigest ? nil : .contentChanged))
        touched.cancel()
        try fixture.clock.advance(by: .seconds(1))
        fixture.files["/d/f"] = UploadFixture.content.reversed()
        let changed = fixture.start(by: method)
        try fixture.clock.run()
        #expect(changed.failure?.code == .contentChanged)
    }

    /// An upload that is gone begins anew, once.
    @Test(arguments: [404, 410])
    func gone(status: Int) throws {
        let fixture = UploadFixture([
            .interim(Self.place, then: .lost), .reply(status),
            .interim(["Location": "/uploads/8"], then: .response(200, Self.complete)),
        ])
        let recorder = fixture.start()
        try fixture.clock.run()
        #expect(recorder.isFinished)
        #expect(fixture.counts == [100, 0, 100])
    }

    /// An upload that is gone after all of it was sent may be complete: only a request that may be sent twice is repeated.
    @Test(arguments: [true, false])
    func goneAfterTheEnd(isIdempotent: Bool) throws {
        let fixture = UploadFixture([
            .interim(Self.place, then: [.uploaded(bytes: 100, of: 100)] + .lost), .reply(404),
            .reply(200, Self.complete),
        ])
        let recorder = fixture.start(
            to: .post("/films", options: RequestOptions(isIdempotent: isIdempotent)))
        try fixture.clock.run()
        #expect(recorder.isFinished == isIdempotent)
        #expect(fixture.sent() == ["POST /films", "HEAD /uploads/7"] + (isIdempotent ? ["POST /films"] : []))
    }

    /// The record of an upload that is gone stays until that of the new one replaces it.
    @Test func goneKeepsTheRecord() throws {
        let fixture = UploadFixture([.interim(Self.place, then: .lost), .reply(404), .stall])
        let recorder = fixture.start()
        try fixture.clock.run()
        #expect(!recorder.isFinished)
        #expect(fixture.sent().prefix(3) == ["POST /films", "HEAD /uploads/7", "POST /films"])
        #expect(fixture.files.paths.contains { $0.hasSuffix(".json") })
    }

    /// An upload that the server completes without all of the content fails, whichever response says so.
    @Test(arguments: [true, false])
    func closedEarly(isQuestion: Bool) throws {
        let fixture = UploadFixture([
            .reply(201, ["Location": "/uploads/7", "Upload-Complete": "?0"]),
            isQuestion ? .failure(.connectionLost) : .reply(200, Self.complete),
            .reply(204, ["Upload-Offset": "60", "Upload-Complete": "?1"]), .reply(200, Self.complete),
        ])
        let recorder = fixture.start(by: .plain(isKnown: true, partSize: 40))
        try fixture.clock.run()
        #expect(recorder.failure?.code == .invalidResponse)
        #expect(recorder.kinds.allSatisfy { !$0.hasPrefix("finished") })
    }

    /// The server's digest of the whole proves the upload, or fails it.
    @Test(arguments: [true, false])
    func digests(isRight: Bool) throws {
        let digest = TransferDigest(of: isRight ? UploadFixture.content : [1], .sha256)
        let fixture = UploadFixture([
            .interim(
                Self.place,
                then: .response(200, ["Upload-Complete": "?1", "Repr-Digest": digest.fieldValue]))
        ])
        var method = UploadMethod.plain()
        method.options.digest = .computed(.sha256)
        let recorder = fixture.start(by: method)
        try fixture.clock.run()
        #expect(
            fixture.transport.requests.first?.headerFields[.reprDigest]
                == TransferDigest(of: UploadFixture.content).fieldValue)
        #expect(fixture.transport.requests.first?.headerFields[.wantReprDigest] != nil)
        #expect(recorder.kinds == ["started 0"] + (isRight ? ["verified sha-256", "finished 200"] : []))
        #expect(recorder.failure?.code == (isRight ? nil : .digestMismatch))
        #expect(fixture.files.paths == ["/d/f"])
    }

    /// Content with another digest than the known one is not sent.
    @Test func knownDigest() throws {
        let fixture = UploadFixture([])
        var method = UploadMethod.plain()
        method.options.digest = .known(TransferDigest(of: [1, 2, 3]))
        let recorder = fixture.start(by: method)
        try fixture.clock.run()
        #expect(recorder.failure?.code == .digestMismatch)
        #expect(fixture.transport.requests.isEmpty)
    }

    /// The digest of each request's content.
    @Test func contentDigests() throws {
        let fixture = UploadFixture([
            .reply(201, ["Location": "/uploads/7", "Upload-Complete": "?0"]), .reply(200, Self.complete),
        ])
        var method = UploadMethod.plain(isKnown: true, partSize: 60)
        method.options.partDigest = .sha512
        let recorder = fixture.start(by: method)
        try fixture.clock.run()
        #expect(recorder.isFinished)
        let expected = [UploadFixture.content[..<60], UploadFixture.content[60...]].map {
            TransferDigest(of: $0, .sha512).fieldValue
        }
        #expect(fixture.transport.requests.map { $0.headerFields[.contentDigest] } == expected)
    }

    /// A careful creation sends no content before the place is known.
    @Test func carefulCreation() throws {
        let fixture = UploadFixture([
            .reply(204, ["Upload-Limit": "min-size=0"]),
            .reply(201, ["Location": "http://shop.test/uploads/7", "Upload-Complete": "?0"]),
            .reply(200, Self.complete),
        ])
        let recorder = fixture.start(by: .plain(isCareful: true))
        try fixture.clock.run()
        #expect(recorder.kinds == ["started 0", "finished 200"])
        #expect(fixture.counts == [0, 0, 100])
    }

    /// A stream of unknown length, in parts that are kept until they are confirmed.
    @Test func streams() throws {
        let fixture = UploadFixture([
            .reply(204, ["Upload-Limit": "min-size=0"]),
            .reply(201, ["Location": "/uploads/7", "Upload-Complete": "?0"]), .failure(.connectionLost),
            .reply(204, ["Upload-Offset": "50", "Upload-Complete": "?0"]),
            .reply(204, ["Upload-Complete": "?0"]), .reply(200, Self.complete),
        ])
        let chunks = Observable<[UInt8], NetworkError>.sequence(
            (0..<10).map { chunk in
                (0..<10).map { UInt8(chunk * 10 + $0) }
            })
        let recorder = fixture.start(.stream(chunks), by: .plain(partSize: 40))
        try fixture.clock.run()
        #expect(recorder.isFinished, "\(String(describing: recorder.failure))")
        #expect(
            fixture.sent("Upload-Offset", "Upload-Complete", "Upload-Length") == [
                "OPTIONS /films", "POST /films Upload-Complete=?0",
                "PATCH /uploads/7 Upload-Offset=40 Upload-Complete=?0", "HEAD /uploads/7",
                "PATCH /uploads/7 Upload-Offset=50 Upload-Complete=?0",
                "PATCH /uploads/7 Upload-Offset=90 Upload-Complete=?1",
            ])
        let bodies = fixture.transport.requests.map { request -> [UInt8] in
            if case .bytes(let bytes) = request.body { bytes } else { [] }
        }
        #expect(bodies[4] == (50..<90).map { UInt8($0) })
        #expect(bodies[5] == (90..<100).map { UInt8($0) })
    }

    /// A stream whose confirmed bytes are needed again fails.
    @Test func streamsCannotGoBack() throws {
        let fixture = UploadFixture([
            .reply(201, ["Location": "/uploads/7", "Upload-Complete": "?0"]), .failure(.connectionLost),
            .reply(204, ["Upload-Offset": "10", "Upload-Complete": "?0"]),
        ])
        let chunks = Observable<[UInt8], NetworkError>.just(UploadFixture.content)
        let recorder = fixture.start(.stream(chunks), by: .plain(isKnown: true, partSize: 40))
        try fixture.clock.run()
        #expect(recorder.failure?.code == .contentUnavailable)
    }

    /// A server that claims more than was sent to it makes the upload fail, however long the content is.
    @Test(arguments: [true, false])
    func offsetBeyondWhatWasSent(isMismatch: Bool) throws {
        let fixture = UploadFixture([
            .reply(201, ["Location": "/uploads/7", "Upload-Complete": "?0"]),
            isMismatch ? .reply(409, ["Upload-Offset": "81"]) : .failure(.connectionLost),
            isMismatch ? .reply(204) : .reply(204, ["Upload-Offset": "81", "Upload-Complete": "?0"]),
            .reply(204),
        ])
        let recorder = fixture.start(by: .plain(isKnown: true, partSize: 40))
        try fixture.clock.run()
        #expect(recorder.failure?.code == .invalidResponse)
        #expect(fixture.sent().last == "DELETE /uploads/7")
    }

    /// A stream has no record, because another one might have other content: a cancelled upload is deleted.
    @Test func streamsHaveNoRecord() throws {
        let fixture = UploadFixture([
            .reply(201, ["Location": "/uploads/7", "Upload-Complete": "?0"]), .stall, .reply(204),
        ])
        let chunks = Observable<[UInt8], NetworkError>.just(UploadFixture.content)
        let recorder = fixture.start(
            .stream(chunks), by: .plain(isKnown: true, partSize: 40), records: .file("/d/record"))
        try fixture.clock.advance(by: .seconds(1))
        #expect(fixture.files.paths == ["/d/f"])
        recorder.cancel()
        try fixture.clock.run()
        #expect(fixture.sent().last == "DELETE /uploads/7")
    }

    /// Without a record a cancelled upload is deleted, since nothing could find it again.
    @Test func cancelling() throws {
        let fixture = UploadFixture([.interim(Self.place, then: [.stall]), .reply(204)])
        let recorder = fixture.start(.bytes(UploadFixture.content))
        try fixture.clock.advance(by: .seconds(1))
        recorder.cancel()
        try fixture.clock.run()
        #expect(fixture.sent() == ["POST /films", "DELETE /uploads/7"])
    }

    /// A place on another origin gets no secret of the endpoint, and none without TLS after one with it.
    @Test func otherOrigins() throws {
        let fixture = UploadFixture([
            .reply(201, ["Location": "http://store.test/u/7?s=1", "Upload-Complete": "?0"]),
            .reply(200, Self.complete),
        ])
        let recorder = fixture.start(
            by: .plain(isCareful: true, isKnown: true),
            to: .post("/films", headers: ["Authorization": "Bearer secret", "X-Key": "k"]))
        try fixture.clock.run()
        #expect(recorder.isFinished, "\(String(describing: recorder.failure))")
        let requests = fixture.transport.requests
        #expect(requests[0].headerFields[.authorization] == "Bearer secret")
        #expect(requests[1].url.absoluteString == "http://store.test/u/7?s=1")
        #expect(requests[1].headerFields[.authorization] == nil)
        #expect(requests[1].headerFields[HTTPField.Name("X-Key")!] == nil)

        let machine = UploadMachine(
            DraftDialect(isCareful: true, isKnown: true), base: URL(string: "https://shop.test/films")!,
            total: 10, partSize: nil, isRepeatable: false, maxRetries: 1)
        var downgraded = machine
        _ = downgraded.receive(.begin(location: nil))
        let head = ResponseHead(
            status: .created,
            headerFields: .named(["Location": "http://shop.test/u", "Upload-Complete": "?0"]))
        let outputs = downgraded.receive(.responded(head, []))
        #expect(outputs.contains { if case .fail = $0 { true } else { false } })
    }
}
