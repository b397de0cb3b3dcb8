import FoundationEssentials
import HTTPTypes
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxHTTP

/// The store, its file and its effect on requests, in virtual time.
@Suite struct HSTSStoreTests {
    private let clock = VirtualScheduler()
    private let path = "/data/hsts.txt"

    /// A transport that updates the store from every https response, as over verified TLS.
    private struct Learning: Transport {
        let transport: ScriptedTransport
        let hsts: HSTSStore?

        var scheduler: any Scheduler { transport.scheduler }

        func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
            transport.send(request).handleEvents(onNext: { event in
                guard case .head(let head) = event else { return }
                hsts?.learn(from: head, of: request.url, at: scheduler.currentDate)
            })
        }
    }

    private func transport(_ store: HSTSStore, max age: Int = 60) -> Learning {
        let scripted = ScriptedTransport(on: clock) { request in
            var fields: HTTPFields = [:]
            if request.url.scheme == "https" { fields[.strictTransportSecurity] = "max-age=\(age)" }
            if request.url.path == "/to", let query = request.url.query() {
                fields[.location] = query
                return .status(.found, headers: fields)
            }
            return .status(.ok, headers: fields)
        }
        return Learning(transport: scripted, hsts: store)
    }

    private func get(_ url: String, over transport: Learning, _ policy: RedirectPolicy = .init()) throws
        -> Recorder<Response, NetworkError>
    {
        let request = Request(url: try #require(URL(string: url)))
        let recorder = Recorder(
            transport.send(request, following: policy).response(to: request), on: clock)
        try clock.run()
        return recorder
    }

    @Test func timeIsTheSchedulers() throws {
        let transport = transport(HSTSStore(), max: 60)
        #expect(try get("http://a.test/", over: transport).values.first?.request.url.scheme == "http")
        #expect(try get("https://a.test/", over: transport).values.count == 1)
        try clock.advance(by: .seconds(59))
        let response = try #require(try get("http://a.test/", over: transport).values.first)
        #expect(response.request.url.absoluteString == "https://a.test/")
        #expect(!response.isRedirected)
        try clock.advance(by: .seconds(61))
        #expect(try get("http://a.test/", over: transport).values.first?.request.url.scheme == "http")
    }

    @Test func redirectsToHostsThatWantTLS() throws {
        let transport = transport(HSTSStore())
        let refused = try get("https://a.test/to?http://b.test/", over: transport)
        #expect(refused.failure?.code == .invalidRedirect)
        _ = try get("https://b.test/", over: transport)
        let followed = try #require(
            try get("https://a.test/to?http://b.test/x", over: transport).values.first)
        #expect(followed.request.url.absoluteString == "https://b.test/x")
        #expect(followed.isRedirected)
        // An upgrade does not count as a redirect.
        let manual = try get("http://b.test/to?http://b.test/", over: transport, .manual).values.first
        #expect(manual?.status == .found)
        #expect(manual?.request.url.absoluteString == "https://b.test/to?http://b.test/")
    }

    @Test func secretsStayOnTheRequest() throws {
        let store = HSTSStore()
        let transport = transport(store)
        _ = try get("https://a.test/", over: transport)
        var request = Request(url: try #require(URL(string: "http://a.test/to?http://a.test/")))
        request.headerFields[.authorization] = "Bearer t"
        let recorder = Recorder(transport.send(request, following: RedirectPolicy()), on: clock)
        try clock.run()
        #expect(recorder.isFinished)
        #expect(transport.transport.requests.suffix(2).map(\.url.scheme) == ["https", "https"])
        #expect(
            transport.transport.requests.suffix(2).map { $0.headerFields[.authorization] } == [
                "Bearer t", "Bearer t",
            ])
    }

    // MARK: - File

    @Test func theFirstRequestWaitsForTheFile() throws {
        let files = MemoryFileSystem(on: clock, latency: .milliseconds(5))
        files[path] = Array(".a.test \"unlimited\"\n".utf8)
        let response = try get("http://b.a.test/", over: transport(HSTSStore(file: path, on: files))).values
            .first
        #expect(response?.request.url.scheme == "https")
    }

    @Test func outlives() throws {
        let files = MemoryFileSystem(on: clock, latency: .milliseconds(5))
        let first = HSTSStore(file: path, on: files)
        _ = try get("https://a.test/", over: transport(first))
        _ = try get("https://b.test/", over: transport(first))
        let second = HSTSStore(file: path, on: files)
        #expect(
            try get("http://a.test/", over: transport(second)).values.first?.request.url.scheme == "https")
        #expect(second.hosts == ["a.test", "b.test"])
        second.removeAll()
        try clock.run()
        let third = HSTSStore(file: path, on: files)
        #expect(try get("http://a.test/", over: transport(third)).values.first?.request.url.scheme == "http")
    }

    /// A slightly later end is not written.
    @Test func written() throws {
        let files = MemoryFileSystem(on: clock)
        let transport = transport(HSTSStore(file: path, on: files), max: 1000)
        _ = try get("https://a.test/", over: transport)
        let bytes = files[path]
        try clock.advance(by: .seconds(9))
        _ = try get("https://a.test/", over: transport)
        #expect(files[path] == bytes)
        try clock.advance(by: .seconds(2))
        _ = try get("https://a.test/", over: transport)
        #expect(files[path] != bytes)
    }

    /// Entries set or removed before the file is read stay.
    @Test func early() throws {
        let files = MemoryFileSystem(on: clock, latency: .milliseconds(5))
        files[path] = Array("a.test \"unlimited\"\nold.test \"unlimited\"\n".utf8)
        let store = HSTSStore(file: path, on: files)
        let url = try #require(URL(string: "https://a.test/"))
        store.learn(
            from: ResponseHead(
                status: .ok, headerFields: [.strictTransportSecurity: "max-age=60; includeSubDomains"]),
            of: url, at: clock.date)
        try clock.run()
        #expect(store.hosts == ["a.test", "old.test"])
        let entries = store.contents.withLock { $0.hosts.entries }
        #expect(store.hosts.map { entries[$0]?.includesSubdomains } == [true, false])
        let cleared = HSTSStore(file: path, on: files)
        cleared.removeAll()
        try clock.run()
        #expect(cleared.hosts.isEmpty)
        #expect(files[path].map { !String(decoding: $0, as: UTF8.self).contains("test") } == true)
    }

    /// A host that ends its policy before the file can be read is not restored.
    @Test func forgotten() throws {
        let files = MemoryFileSystem(on: clock)
        files[path] = Array("a.test \"unlimited\"\nb.test \"unlimited\"\n".utf8)
        files.fail(.read, of: path, "damaged")
        let store = HSTSStore(file: path, on: files)
        #expect(try get("https://a.test/", over: transport(store, max: 0)).values.count == 1)
        let restored = Recorder(store.restore(), on: clock)
        try clock.run()
        #expect(restored.isFinished && store.hosts == ["b.test"])
        #expect(HSTSFile.entries(files[path] ?? []).map(\.host) == ["b.test"])
    }

    /// An unreadable file stops no request, and is not overwritten.
    @Test func unreadable() throws {
        let files = MemoryFileSystem(on: clock)
        let bytes = Array(".a.test \"unlimited\"\n".utf8)
        files[path] = bytes
        for _ in 0..<3 { files.fail(.read, of: path, "damaged") }
        let store = HSTSStore(file: path, on: files)
        #expect(try get("https://b.test/", over: transport(store)).values.count == 1)
        let flush = Recorder(store.flush(), on: clock)
        try clock.run()
        #expect(flush.failure?.code == .file)
        #expect(files[path] == bytes)
        // The file is readable again.
        #expect(try get("http://a.test/", over: transport(store)).values.first?.request.url.scheme == "https")
        let again = Recorder(store.flush(), on: clock)
        try clock.run()
        #expect(again.values.count == 1)
        #expect(HSTSFile.entries(files[path] ?? []).map(\.host) == ["a.test", "b.test"])
    }
}
