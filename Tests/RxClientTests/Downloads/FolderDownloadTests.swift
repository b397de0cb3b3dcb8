import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxClient

/// Downloads to a folder, where the response names the file.
@Suite struct FolderDownloadTests {
    private let fixture = DownloadFixture()

    init() { fixture.files.addFolder("/d") }

    private func start(
        _ call: InlineEndpoint = InlineEndpoint(.get, "/f"), to folder: String = "/d", retries: Int = 0
    ) -> Recorder<DownloadEvent, NetworkError> {
        Recorder(fixture.client(retries: retries).download(call, to: folder), on: fixture.clock)
    }

    private func expectFile(
        _ recorder: Recorder<DownloadEvent, NetworkError>, at path: String,
        _ content: [UInt8] = DownloadFixture.content
    ) {
        #expect(recorder.isFinished, "\(String(describing: recorder.failure))")
        guard case .finished(let file) = recorder.values.last else {
            Issue.record("the last value is not the file")
            return
        }
        #expect(file.path == path)
        #expect(fixture.files[path] == content)
        #expect(file.size == Int64(content.count))
    }

    private func serve(_ disposition: String?) {
        fixture.server.state.withLock { $0.fields[.contentDisposition] = disposition }
    }

    /// The name comes from the response, else from the URL.
    @Test(
        arguments: [
            ("attachment; filename=\"map.osm\"", "/files/7", "/d", "/d/map.osm"),
            ("attachment; filename=\"map.osm\"", "/files/7", "/d/", "/d/map.osm"),
            ("attachment; filename=\"map.osm\"", "/files/7", "/", "/map.osm"),
            ("attachment", "/files/map%20of%20Rome.osm?token=a", "/d", "/d/map of Rome.osm"),
            (nil, "/files/map.osm/", "/d/./", "/d/./map.osm"), (nil, "/", "/d", "/d/download"),
            ("attachment; filename=\"../../etc/passwd\"", "/files/7", "/d", "/d/passwd"),
        ] as [(String?, String, String, String)])
    func names(disposition: String?, target: String, folder: String, path: String) {
        serve(disposition)
        let recorder = start(InlineEndpoint(.get, target), to: folder)
        #expect(throws: Never.self) { try fixture.clock.run() }
        expectFile(recorder, at: path)
        #expect(fixture.files.paths.count == 1)
        #expect(fixture.files.lockedPaths.isEmpty)
    }

    /// The URL is the one after redirects.
    @Test func redirected() throws {
        let transport = ScriptedTransport(
            on: fixture.clock, files: fixture.files,
            [
                .when(.get, "/latest", .status(.found, headers: [.location: "/files/map-7.osm?a=b"])),
                .when(.get, "/files/map-7.osm", .bytes([1, 2])),
            ])
        let client = Client(baseURL: "http://shop.test", transport: transport)
        let recorder = Recorder(client.download(.get("/latest"), to: "/d"), on: fixture.clock)
        try fixture.clock.run()
        expectFile(recorder, at: "/d/map-7.osm", [1, 2])
    }

    /// An existing file or folder of that name stays: the new file gets a number.
    @Test func numbers() throws {
        serve("attachment; filename=map.osm")
        fixture.files["/d/map.osm"] = [1]
        fixture.files["/d/map (1).osm/inner"] = [2]
        for number in 2...4 {
            let recorder = start()
            try fixture.clock.run()
            expectFile(recorder, at: "/d/map (\(number)).osm")
        }
        #expect(fixture.files["/d/map.osm"] == [1])
        #expect(fixture.files.paths.count == 5)
    }

    /// Two downloads of one URL to a folder: the second is refused; of two URLs both arrive, under two names.
    @Test func twice() throws {
        serve("attachment; filename=map.osm")
        let downloads = [start(), start(to: "/d/../d/"), start(InlineEndpoint(.get, "/other"))]
        try fixture.clock.run()
        #expect(downloads[1].failure?.code == .file)
        let paths = [downloads[0], downloads[2]].compactMap { recorder -> String? in
            guard case .finished(let file) = recorder.values.last else { return nil }
            return file.path
        }
        #expect(Set(paths) == ["/d/map.osm", "/d/map (1).osm"])
        #expect(fixture.files.paths == ["/d/map (1).osm", "/d/map.osm"])
    }

    /// Requests that are not GET have nothing to resume, and each has its own file.
    @Test func posts() throws {
        let call = InlineEndpoint(.post, "/f")
        let downloads = [start(call), start(call)]
        try fixture.clock.run()
        #expect(downloads.allSatisfy { $0.isFinished })
        #expect(fixture.files.paths == ["/d/f", "/d/f (1)"])
    }

    /// It resumes, by a retry and by a later download, and keeps the name of the first response.
    @Test func resumes() throws {
        serve("attachment; filename=\"first.osm\"")
        fixture.server.state.withLock { $0.breaks = [20, 10] }
        let first = start(retries: 1)
        try fixture.clock.run()
        #expect(first.failure?.code == .partialBody)
        #expect(fixture.files.paths.count == 2)
        #expect(fixture.files.paths.allSatisfy { $0.hasPrefix("/d/.download-") })
        serve("attachment; filename=\"second.osm\"")
        let second = start(to: "/d/./")
        try fixture.clock.run()
        expectFile(second, at: "/d/./first.osm")
        #expect(fixture.ranges() == [nil, "bytes=20-", "bytes=30-"])
        #expect(fixture.files.paths == ["/d/first.osm"])
        // A new version has its own name.
        fixture.server.state.withLock { $0.breaks = [20] }
        let third = start()
        try fixture.clock.run()
        #expect(third.failure != nil)
        serve("attachment; filename=\"third.osm\"")
        fixture.server.state.withLock { $0.fields[.eTag] = "\"v2\"" }
        let fourth = start()
        try fixture.clock.run()
        expectFile(fourth, at: "/d/third.osm")
    }

    /// A name in a record is as untrusted as that of a response.
    @Test func record() throws {
        serve("attachment; filename=\"f.osm\"")
        fixture.server.state.withLock { $0.breaks = [20] }
        _ = start()
        try fixture.clock.run()
        let path = try #require(fixture.files.paths.first { $0.hasSuffix(".json") })
        let text = String(decoding: fixture.files[path] ?? [], as: UTF8.self)
        #expect(text.contains("\"f.osm\""))
        fixture.files[path] = Array(text.replacing("f.osm", with: "../../e/x").utf8)
        let second = start()
        try fixture.clock.run()
        expectFile(second, at: "/d/x")
    }

    /// A failure of the disk at the end keeps the partial file for the next download.
    @Test(arguments: [MemoryFileSystem.Operation.move, .synchronize])
    func disk(operation: MemoryFileSystem.Operation) throws {
        let broken = start()
        try fixture.clock.advance(by: .milliseconds(6))
        let draft = try #require(fixture.files.paths.first { $0.hasSuffix(".part") })
        // The truncated file has been synced.
        fixture.files.fail(operation, of: draft)
        try fixture.clock.run()
        #expect(broken.failure?.code == .file)
        let second = start()
        try fixture.clock.run()
        expectFile(second, at: "/d/f")
        #expect(fixture.files.paths == ["/d/f"])
    }

    // MARK: - Names

    private static let fields: [(field: String, name: String)] = [
        ("attachment; filename=map.osm", "map.osm"), ("inline; filename=\"a b.txt\"", "a b.txt"),
        ("ATTACHMENT;FileName = map.osm ; x=y", "map.osm"), ("filename=only.txt", "url"),
        (";filename=map.osm", "map.osm"), ("attachment; filename=\"a;b=c.txt\"", "a;b=c.txt"),
        ("attachment; filename=\"a\\\"b.txt\"", "a\"b.txt"), ("attachment; filename=\"open.txt", "open.txt"),
        ("attachment; filename=my file.txt", "my file.txt"),
        ("attachment; filename=a.txt; filename=b.txt", "a.txt"),
        // RFC 6266 §5: the extended value counts, in either order.
        ("attachment; filename=\"EURO rates\"; filename*=utf-8''%e2%82%ac%20rates", "€ rates"),
        ("attachment; filename*=UTF-8'en'%c2%a3%20and%20%e2%82%ac%20rates; filename=b", "£ and € rates"),
        ("attachment; filename*=iso-8859-1'en'%A3%20rates", "£ rates"),
        ("attachment; filename*=\"UTF-8''%e7%bb%bf%e8%8c%b6.txt\"", "绿茶.txt"),
        ("attachment; filename=绿茶.txt", "绿茶.txt"),
        // An extended value that cannot be read does not count.
        ("attachment; filename*=UTF-8''%ff%fe; filename=b.txt", "b.txt"),
        ("attachment; filename*=UTF-8''a%2; filename=b.txt", "b.txt"),
        ("attachment; filename*=UTF-8''a%+f; filename=b.txt", "b.txt"),
        ("attachment; filename*=utf-7''a; filename=b.txt", "b.txt"),
        ("attachment; filename*=a.txt; filename=b.txt", "b.txt"),
        // Percent escapes in a plain value are text.
        ("attachment; filename=a%20b.txt", "a%20b.txt"),
        // Paths.
        ("attachment; filename=\"../../etc/passwd\"", "passwd"), ("attachment; filename=\"..\\\\x\"", "x"),
        ("attachment; filename=\"C:\\\\folder\\\\file.txt\"", "file.txt"),
        ("attachment; filename=/etc/passwd", "passwd"), ("attachment; filename=\"a/\"", "a"),
        ("attachment; filename*=UTF-8''%2e%2e%2f", "url"), ("attachment; filename*=UTF-8''%2e%2e%5cx", "x"),
        ("attachment; filename*=UTF-8''..%2f..%2fx; filename=b", "x"),
        ("attachment; filename*=UTF-8''%2e%2e%2f; filename=b", "b"),
        ("attachment; filename=\"..\"", "url"), ("attachment; filename=\". . .\"", "url"),
        ("attachment; filename=\"\"", "url"), ("attachment; filename=", "url"), ("", "url"), ("=;=;;", "url"),
        // Hidden names, and endings that some systems cut.
        ("attachment; filename=.bashrc", "bashrc"), ("attachment; filename=\" ..a. . \"", "a"),
        // Control characters, and text that shows in another order.
        ("attachment; filename*=UTF-8''a%00b%0d%0a%7f%1b%c2%85.txt", "ab.txt"),
        ("attachment; filename*=UTF-8''invoice%e2%80%aefdp.exe", "invoicefdp.exe"),
        ("attachment; filename*=UTF-8''%00", "url"),
        // The names of partial files and their records.
        ("attachment; filename=map.osm.part", "map.osm"),
        ("attachment; filename=map.osm.PART.json.part", "map.osm"), ("attachment; filename=.part", "part"),
        ("attachment; filename=x.part.json", "x"), ("attachment; filename=.download-12.part", "download-12"),
        // U+0600 and the dot after it are one `Character`; U+0301 after the ending makes another one of it.
        ("attachment; filename*=UTF-8''x%d8%80.part", "x\u{600}"),
        ("attachment; filename*=UTF-8''x%d8%80.part.json", "x\u{600}"),
        ("attachment; filename*=UTF-8''x.part%cc%81", "x.part\u{301}"),
    ]

    /// Names of Content-Disposition.
    @Test(arguments: fields.indices)
    func nameInField(index: Int) throws {
        let (field, name) = Self.fields[index]
        let head = ResponseHead(
            status: .ok, fieldLines: Array("Content-Disposition: \(field)\r\n".utf8))
        let url = try #require(URL(string: "http://shop.test/a/url"))
        #expect(FileName(head, from: url).text == name, "\(field)")
    }

    /// Names of URLs.
    @Test(arguments: [
        ("http://shop.test/a/map.osm", "map.osm"), ("http://shop.test/a%2Fb%5Cc", "c"),
        ("http://shop.test/%2e%2e%2f", "download"), ("http://shop.test/%E7%BB%BF", "绿"),
        ("http://shop.test/%FF", "\u{FFFD}"), ("http://shop.test", "download"),
        ("http://shop.test/a%00b", "ab"), ("http://shop.test/x/?q=/y", "x"),
    ])
    func urls(url: String, name: String) throws {
        let url = try #require(URL(string: url))
        #expect(FileName(ResponseHead(status: .ok), from: url).text == name)
    }

    /// A long name is shortened between characters, and keeps its extension, also with a number.
    @Test func lengths() throws {
        for (stem, ending) in [("é", ".tar"), ("a", ""), ("👩‍👩‍👧", ".osm"), ("a.", ".b"), ("e\u{301}", ".x")] {
            let long = String(repeating: stem, count: 300) + ending
            let name = try #require(FileName(safe: long))
            let numbered = name.numbered(17)
            for text in [name.text, numbered] {
                #expect(text.utf8.count <= 255 && text.utf8.count > 240)
                #expect(text.hasSuffix(ending))
            }
            #expect(numbered.contains(" (17)"))
        }
        let oneCharacter = "a" + String(repeating: "\u{301}", count: 100_000)
        #expect(try #require(FileName(safe: oneCharacter)).text.utf8.count == 255)
        #expect(FileName(safe: "a." + String(repeating: "b", count: 300))?.text.utf8.count == 255)
        #expect(FileName(safe: "map")?.numbered(1) == "map (1)")
        #expect(FileName(safe: "a.tar.gz")?.numbered(1) == "a.tar (1).gz")
    }

    /// Whatever the server sends, the name is one of a visible file of the folder.
    @Test(arguments: 0..<8)
    func mutated(seed: UInt64) throws {
        var random = SeededRandom(seed)
        let url = try #require(URL(string: "http://shop.test/a/b"))
        let alphabet = Array("./\\%2e5cfF\";'*=\u{202E} \t\0\u{7F}".utf8)
        for _ in 0..<1500 {
            let field = Self.fields.randomElement(using: &random)?.field ?? ""
            let bytes = Array("Content-Disposition: \(field)".utf8).mutated(by: &random, alphabet: alphabet)
            let head = ResponseHead(status: .ok, fieldLines: bytes + [0x0D, 0x0A])
            let name = FileName(head, from: url).text
            #expect(!name.isEmpty && name.utf8.count <= 255 && !name.hasPrefix("."))
            #expect(!name.contains { "/\\".contains($0) } && !name.lowercased().hasSuffix(".part"))
            #expect(name.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) })
            #expect(FileName(safe: name)?.text == name)
        }
    }

    /// A name of any size takes linear time.
    @Test func large() {
        for text in [".", " ", ".part", "a/", "\u{202E}", "a\u{301}"] {
            let name = String(repeating: text, count: 200_000)
            #expect(FileName(safe: name).map { $0.text.utf8.count <= 255 } ?? true)
        }
    }
}
