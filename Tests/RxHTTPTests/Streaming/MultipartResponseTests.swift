import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Testing

/// Multipart responses by the rules of RFC 2046 §5.1, cut anywhere.
@Suite struct MultipartResponseTests {
    private let clock = VirtualScheduler()

    private func read(
        _ pieces: [[UInt8]], type: String? = "multipart/mixed; boundary=b", limit: Int = 100,
        failing error: NetworkError? = nil
    ) throws -> Recorder<String, NetworkError> {
        var fields = HTTPFields()
        fields[.contentType] = type
        let events =
            [.head(ResponseHead(status: .ok, headerFields: fields))] + pieces.map { TransferEvent.chunk($0) }
            + [.finished(TransferMetrics())]
        let recorder = Recorder(
            Observable<TransferEvent, NetworkError>.sequence(events).parts(limit: limit).map { part in
                (part.headerFields.map { "\($0.name)=\($0.value)" } + [part.text]).joined(separator: ";")
            }, on: clock)
        try clock.run()
        return recorder
    }

    private func read(
        _ text: String, type: String? = "multipart/mixed; boundary=b", limit: Int = 100
    ) throws -> Recorder<String, NetworkError> {
        try read([Array(text.utf8)], type: type, limit: limit)
    }

    @Test(
        arguments: [
            // Header fields, content of several lines; line ends before the boundary belong to it.
            (
                "--b\r\nA: 1\r\nB:2\r\n\r\nx\r\ny\r\n\r\n--b\r\n\r\nz\r\n--b--\r\n",
                ["A=1;B=2;x\r\ny\r\n", "z"]
            ),
            // Preamble and epilogue, padding after boundaries.
            ("before\r\nmore\r\n--b \t\r\n\r\nx\r\n--b--  \r\nafter\r\n--b\r\n\r\nno", ["x"]),
            // No line end after the closing boundary.
            ("--b\r\n\r\nx\r\n--b--", ["x"]),
            // Empty content, no content, no header section either.
            ("--b\r\nA: 1\r\n\r\n\r\n--b\r\nA: 2\r\n\r\n--b\r\n--b--", ["A=1;", "A=2;", ""]),
            // A header section that the boundary ends.
            ("--b\r\nA: 1\r\n--b\r\nA: 2\r\n--b--", ["A=1;", "A=2;"]),
            // Multipart content in a part.
            (
                "--b\r\nA: 1\r\n\r\n--b-b\r\n\r\nx\r\n--b-b--\r\n--b--",
                ["A=1;--b-b\r\n\r\nx\r\n--b-b--"]
            ),
            // Not at the start of a line, after LF alone, a longer word, one that is no boundary at all.
            (
                "--b\r\n\r\nx--b\r\ny\n--b\r\n--bc\r\n--b-\r\n--b--c\r\n--b",
                [],  // and no closing boundary
            ),
            (
                "--b\r\n\r\nx--b\r\ny\n--b\r\n--bc\r\n--b-\r\n--b--c\r\n--b--",
                ["x--b\r\ny\n--b\r\n--bc\r\n--b-\r\n--b--c"]
            ),
            // LF from the first boundary on.
            ("\n--b\nA: 1\n\nx\r\n--b\n\ny\n--b--\n", ["A=1;x\r", "y"]),
            // Folded fields, lines that are no fields.
            ("--b\r\nA: 1\r\n 2\r\nnothing\r\n: x\r\n\r\nx\r\n--b--", ["A=1 2;x"]),
            ("--b--", []),
        ] as [(String, [String])])
    func parts(text: String, parts: [String]) throws {
        let isWhole =
            text.contains("--b--\r\n") || text.hasSuffix("--b--") || text.contains("--b--\n")
            || text.contains("--b--  ")
        for pieces in Array(text.utf8).cuts {
            let recorder = try read(pieces)
            #expect(recorder.values == parts, "in \(pieces.map(\.count))")
            if isWhole {
                #expect(recorder.isFinished)
            } else {
                #expect(recorder.failure?.code == .partialBody)
            }
        }
    }

    @Test(arguments: [
        ("multipart/mixed; boundary=\"a b;c\"", "a b;c"),
        ("Multipart/X-Mixed-Replace;BOUNDARY=frame", "frame"),
        ("multipart/related; type=\"x\"; boundary=(')+_,-./:=?", "(')+_,-./:=?"),
        ("multipart/mixed; boundary=" + String(repeating: "x", count: 70), String(repeating: "x", count: 70)),
    ])
    func boundaries(type: String, boundary: String) throws {
        let recorder = try read("--\(boundary)\r\n\r\nx\r\n--\(boundary)--\r\n", type: type)
        #expect(recorder.values == ["x"])
        #expect(recorder.isFinished)
    }

    @Test(
        arguments: [
            (nil, .contentType), ("text/plain; boundary=b", .contentType),
            ("multipart/mixed", .invalidResponse),
            ("multipart/mixed; boundary=\"\"", .invalidResponse),
            ("multipart/mixed; boundary=" + String(repeating: "x", count: 71), .invalidResponse),
        ] as [(String?, NetworkError.Code)])
    func otherResponses(type: String?, code: NetworkError.Code) throws {
        let recorder = try read("--b\r\n\r\nx\r\n--b--", type: type)
        #expect(recorder.values.isEmpty)
        #expect(recorder.failure?.code == code)
        #expect(recorder.failure?.status == .ok)
        #expect(recorder.failure?.shown.contains("text/plain") == false)
    }

    @Test func aPartComesWithTheBoundaryAfterIt() throws {
        let open = "--b\r\n\r\nframe 1\r\n--b\r\n\r\nframe 2"
        let head = ResponseHead(
            status: .ok, headerFields: [.contentType: "multipart/x-mixed-replace; boundary=b"])
        let recorder = Recorder(
            Observable<TransferEvent, NetworkError>.concat([
                .sequence([.head(head), .chunk(Array(open.utf8))]), .never(),
            ]).parts().map(\.text), on: clock)
        try clock.run()
        #expect(recorder.values == ["frame 1"])
        #expect(recorder.completion == nil)
        recorder.cancel()
    }

    @Test(arguments: [(10, true), (9, false)])
    func theLimitCountsHeaderSectionAndContent(limit: Int, fits: Bool) throws {
        for pieces in Array("--b\r\nA:1\r\n\r\nxyz\r\n--b\r\n\r\n\r\n--b--".utf8).cuts {
            let recorder = try read(pieces, limit: limit)
            #expect(recorder.values == (fits ? ["A=1;xyz", ""] : []))
            #expect(recorder.failure?.code == (fits ? nil : .tooLarge))
        }
    }

    @Test func anEndlessPartStopsAtTheLimit() throws {
        let piece = [UInt8](repeating: 0x2D, count: 1000)
        let recorder = try read([Array("--b\r\n".utf8), piece, piece], limit: 1000)
        #expect(recorder.failure?.code == .tooLarge)
    }

    @Test func aHeaderSectionWithoutEndStopsAtTheLimit() throws {
        let recorder = try read(
            [Array("--b\r\n".utf8)] + Array(repeating: Array("A: 1\r\n".utf8), count: 1000))
        #expect(recorder.failure?.code == .tooLarge)
    }

    @Test func moreFieldsThanAHeaderSectionHoldsAreOmitted() throws {
        let fields = [UInt8](repeating: 0, count: 70_000).flatMap { _ in Array("A:\n".utf8) }
        let parts = Recorder(
            Observable<TransferEvent, NetworkError>.sequence([
                .head(ResponseHead(status: .ok, headerFields: [.contentType: "multipart/mixed; boundary=b"])),
                .chunk(Array("--b\n".utf8)), .chunk(fields), .chunk(Array("\nx\n--b--".utf8)),
                .finished(TransferMetrics()),
            ]).parts(), on: clock)
        try clock.run()
        #expect(parts.isFinished)
        #expect(parts.values.map(\.text) == ["x"])
        #expect(parts.values.first?.headerFields.count == ResponseHead.maxFields)
    }

    @Test func aLongPreambleCostsNoMemoryAndIsSkipped() throws {
        let line = [UInt8](repeating: 0x2D, count: 300_000)
        let recorder = try read([line, line, Array("\r\n--b\r\n\r\nx\r\n--b--".utf8)], limit: 10)
        #expect(recorder.values == ["x"])
        #expect(recorder.isFinished)
    }
}
