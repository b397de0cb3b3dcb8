import RxHTTP
import RxLite
import RxTesting
import Testing

@Suite struct MultipartTests {
    let clock = VirtualScheduler()

    /// The bytes of a body, checked against its announced length.
    private func sent(_ body: Body, _ files: MemoryFileSystem) throws -> (text: String, length: Int64?) {
        guard case .streamed(let streamed) = body else {
            guard case .bytes(let bytes) = body else { return ("", 0) }
            return (String(decoding: bytes, as: UTF8.self), Int64(bytes.count))
        }
        let content = try result(streamed.open(files))
        let bytes = try result(content.chunks.collect()).flatMap { $0 }
        return (String(decoding: bytes, as: UTF8.self), content.length)
    }

    private func result<T>(_ stream: Observable<T, NetworkError>) throws -> T {
        let recorder = Recorder(stream, on: clock)
        try clock.run()
        if case .failed(let error) = recorder.completion { throw error }
        return try #require(recorder.values.first)
    }

    /// A part has its own header fields, in order, also several of the same name.
    @Test func ownFields() throws {
        let headers: Headers = ["X-B": "1", "X-A": "2", "X-B": "3", "X-C": nil]
        let form = Multipart([.text("a", "b", headers: headers)], boundary: "XX")
        let text = try sent(try form.body(), MemoryFileSystem(on: clock)).text
        #expect(
            text.hasPrefix(
                "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\nX-B: 1\r\nX-A: 2\r\nX-B: 3\r\n\r\nb\r\n"
            ))
    }

    /// Invalid header fields, and those that the part sets itself, are errors.
    @Test(arguments: [
        ("X-A", "a\r\nb"), ("X-A", "a\0"), ("X A", "a"), ("", "a"), ("X-A", "ä"),
        ("Content-Disposition", "form-data"),
        ("content-type", "text/plain"),
    ])
    func illegalOwnFields(name: String, value: String) {
        let form = Multipart([.text("a", "b", headers: [name: value])], boundary: "XX")
        let error = #expect(throws: NetworkError.self) { try form.body() }
        #expect(error?.code == .invalidParameters)
    }

    @Test func textsBytesAndFilesByteByByte() throws {
        let files = MemoryFileSystem(on: clock, pieceSize: 3)
        files["/a/photo.jpg"] = Array("JPEG DATA".utf8)
        let form = Multipart(
            [
                .text("title", "Grüner Tee"), .bytes("blob", [0x31, 0x32]),
                .file("photo", "/a/photo.jpg", contentType: "image/jpeg"), .text("empty", ""),
            ], boundary: "XX")
        let (text, length) = try sent(try form.body(), files)
        #expect(
            text == """
                --XX\r
                Content-Disposition: form-data; name="title"\r
                \r
                Grüner Tee\r
                --XX\r
                Content-Disposition: form-data; name="blob"; filename="blob"\r
                Content-Type: application/octet-stream\r
                \r
                12\r
                --XX\r
                Content-Disposition: form-data; name="photo"; filename="photo.jpg"\r
                Content-Type: image/jpeg\r
                \r
                JPEG DATA\r
                --XX\r
                Content-Disposition: form-data; name="empty"\r
                \r
                \r
                --XX--\r

                """)
        #expect(length == Int64(text.utf8.count))
        #expect(form.contentType == "multipart/form-data; boundary=XX")
        #expect(try form.body().isReplayable)
    }

    @Test func whatIsInMemoryIsSentAsBytes() throws {
        guard case .bytes(let bytes) = try Multipart([.text("a", "b")], boundary: "X").body() else {
            Issue.record("a stream")
            return
        }
        #expect(bytes.count > 0)
        #expect(
            try sent(Multipart([], boundary: "X").body(), MemoryFileSystem(on: clock)).text == "--X--\r\n")
    }

    @Test(arguments: [
        ("name", "name"), ("a\"b", "a%22b"), ("\"", "%22"), ("a\\b", "a\\b"), ("ключ", "ключ"), ("🍵", "🍵"),
        ("a;b=c", "a;b=c"), ("%22", "%22"), ("", ""), ("../../etc/passwd", "../../etc/passwd"),
        ("a\u{7F}\tb", "a\u{7F}\tb"), ("e\u{301}\u{202E}", "e\u{301}\u{202E}"),
        // One `Character` with the quote.
        ("a\"\u{301}; b=c", "a%22\u{301}; b=c"), ("a\u{600}\"; b=c", "a\u{600}%22; b=c"),
    ]) func namesAreQuotedAsBrowsersDo(name: String, written: String) throws {
        let form = Multipart([.bytes(name, [], fileName: name)], boundary: "X")
        let text = try sent(form.body(), MemoryFileSystem(on: clock)).text
        #expect(text.contains("; name=\"\(written)\"; filename=\"\(written)\"\r\n"))
    }

    @Test(arguments: [
        ("/tmp/a.txt", "a.txt"), ("a.txt", "a.txt"), ("/tmp/b/\u{301}a", "\u{301}a"),
        ("/tmp/b\u{600}/a", "a"),
    ]) func theNameOfAFileIsTheLastComponentOfItsPath(path: String, name: String) {
        #expect(Multipart.Part.file("f", path).fileName == name)
    }

    @Test(arguments: ["a\rb", "a\nb", "a\r\nb", "a\0b", "\n", "\"; filename=\"x\"\r\nX: y"])
    func whatWouldEndTheLineIsRefused(hostile: String) throws {
        for part in [
            .text(hostile, "x"), .bytes("a", [], fileName: hostile), .bytes("a", [], contentType: hostile),
            .file("a", "/tmp/" + hostile),
        ] as [Multipart.Part] {
            let error = #expect(throws: NetworkError.self) { try Multipart([part]).body() }
            #expect(error?.code == .invalidParameters)
            #expect(error?.message.contains("\n") == false)
        }
    }

    @Test(arguments: ["", "a b ", "ä", "a\r\nb", "a\"b", String(repeating: "x", count: 71), "a@b"])
    func whatIsNoBoundaryIsRefused(boundary: String) {
        let error = #expect(throws: NetworkError.self) {
            try Multipart([.text("a", "b")], boundary: boundary).body()
        }
        #expect(error?.code == .invalidParameters)
    }

    @Test func aBoundaryWithSignsIsQuoted() {
        #expect(Multipart([], boundary: "a:b c").contentType == "multipart/form-data; boundary=\"a:b c\"")
    }

    @Test func aBoundaryThatOccursIsRefusedAndNeverChosen() throws {
        func form(_ text: String) -> Multipart {
            var generator = SeededRandom(7)
            return Multipart([.text("a", text)], using: &generator)
        }
        let seeded = form("x")
        // The same seed gives the same boundary, unless it occurs in the content.
        let again = form("x")
        let other = form("--\(seeded.boundary)")
        #expect(seeded.boundary == again.boundary)
        #expect(seeded.boundary != other.boundary)
        #expect(throws: NetworkError.self) {
            try Multipart([.text("a", "text --B text")], boundary: "B").body()
        }
        #expect(throws: NetworkError.self) { try Multipart([.text("a", "B")], boundary: "B").body() }
    }

    @Test func aPartThatCanBeSentOnceMakesTheFormSo() throws {
        let once = Multipart.Part("s", .stream(.just([1, 2]), length: 2))
        let unknown = Multipart.Part("s", .stream(.just([1, 2]), isReplayable: true))
        let body = try Multipart([.text("a", "b"), once], boundary: "X").body()
        #expect(!body.isReplayable)
        #expect(body.count != nil)
        #expect(try sent(body, MemoryFileSystem(on: clock)).length == body.count)
        let second = try Multipart([unknown], boundary: "X").body()
        #expect(second.isReplayable)
        #expect(try sent(second, MemoryFileSystem(on: clock)).length == nil)
    }

    @Test func aFileThatIsNotThereFailsBeforeAnythingIsSent() throws {
        let body = try Multipart([.text("a", "b"), .file("f", "/none")]).body()
        let error = #expect(throws: NetworkError.self) { try sent(body, MemoryFileSystem(on: clock)) }
        #expect(error?.code == .file)
    }

    /// For any names and contents, the form can be parsed at its boundary.
    @Test func nothingThatIsMadeUpTrapsOrBreaksTheForm() throws {
        var random = SeededRandom(42)
        let alphabet: [Character] = [
            "a", "\"", "\r", "\n", "\0", "-", "X", "\\", "é", "🍵", ";", "%", "\u{202E}", "\u{7F}",
        ]
        func text() -> String {
            String(
                (0..<Int.random(in: 0...8, using: &random)).compactMap { _ in
                    alphabet.randomElement(using: &random)
                })
        }
        var refused = 0
        for _ in 0..<3000 {
            let parts = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                Multipart.Part(
                    text(), .text(text()), fileName: Bool.random(using: &random) ? text() : nil,
                    contentType: Bool.random(using: &random) ? text() : nil)
            }
            let boundary = ["X", "-", "--", "aX-a"].randomElement(using: &random) ?? "X"
            let body: Body
            do throws(NetworkError) {
                body = try Multipart(parts, boundary: boundary).body()
            } catch {
                #expect(error.code == .invalidParameters)
                refused += 1
                continue
            }
            let whole = try sent(body, MemoryFileSystem(on: clock)).text
            // Names cannot begin a line, and contents do not contain the boundary.
            let pieces = ("\r\n" + whole).utf8.split(
                separator: Array("\r\n--\(boundary)".utf8), omittingEmptySubsequences: false)
            #expect(pieces.count == parts.count + 2)
            for (piece, part) in zip(pieces.dropFirst(), parts) {
                let head = piece.split(separator: Array("\r\n\r\n".utf8), maxSplits: 1).first ?? piece
                let lines = head.split(separator: Array("\r\n".utf8))
                #expect(lines.count == (part.contentType == nil ? 1 : 2))
            }
        }
        #expect((1..<3000).contains(refused))
    }
}
