import FoundationEssentials
import HTTPTypes
import RxTesting
import Synchronization
import Testing

@testable import RxHTTP

/// Fields of servers (RFC 6797 §6.1), the hosts they apply to (§8), and the file.
@Suite struct HSTSRuleTests {
    private static let now = Date(timeIntervalSince1970: 1_795_341_753)

    @Test(
        arguments: [
            ("max-age=31536000", 31_536_000, false), ("max-age=0", 0, false),
            ("max-age=60; includeSubDomains", 60, true), ("INCLUDESUBDOMAINS ; MAX-AGE=\"60\"", 60, true),
            (" ; max-age = 60 ;; includeSubDomains; ", 60, true),
            ("max-age=60; preload; x=\"a;\\\"b\"; y=1", 60, false),
            ("max-age=99999999999999999999999999", Int(Int32.max), false), ("max-age=007", 7, false),
            ("max-age", nil, false), ("", nil, false), ("includeSubDomains", nil, false),
            ("max-age=-1", nil, false), ("max-age=1.5", nil, false), ("max-age=", nil, false),
            ("max-age=\"", nil, false), ("max-age=\"\"", nil, false), ("max-age=60; max-age=60", nil, false),
            ("max-age=60; includeSubDomains=1", nil, false), ("max-age=60, max-age=70", nil, false),
            ("max-age=60 includeSubDomains", nil, false), ("max-age=60; x=\"\\", nil, false),
            ("max-age=६०", nil, false), ("=60; max-age=60", nil, false),
        ] as [(String, Int?, Bool)])
    func fieldValues(value: String, age: Int?, includesSubdomains: Bool) {
        let policy = HSTSPolicy(value)
        #expect(policy?.maxAge == age)
        if age != nil { #expect(policy?.includesSubdomains == includesSubdomains) }
    }

    /// Servers may send any text.
    @Test func longFieldValues() {
        let many = (0..<20_000).map { "d\($0)=1" }.joined(separator: ";")
        #expect(HSTSPolicy(many + ";max-age=1")?.maxAge == 1)
        #expect(HSTSPolicy(String(repeating: ";", count: 100_000)) == nil)
        #expect(
            HSTSPolicy("max-age=" + String(repeating: "9", count: 100_000))?.maxAge == HSTSPolicy.longestAge)
    }

    private func store(_ fields: [(String, String)], at now: Date = now) throws -> HSTSStore {
        let store = HSTSStore()
        for (url, value) in fields { try learn(value, from: url, to: store, at: now) }
        return store
    }

    private func learn(_ values: String..., from url: String, to store: HSTSStore, at now: Date = now) throws
    {
        var head = HTTPFields()
        for value in values { head.append(HTTPField(name: .strictTransportSecurity, value: value)) }
        store.learn(
            from: ResponseHead(status: .ok, headerFields: head), of: try #require(URL(string: url)), at: now)
    }

    private func upgraded(_ url: String, by store: HSTSStore, at now: Date = now) throws -> String? {
        store.upgrade(try #require(URL(string: url)), at: now)?.absoluteString
    }

    @Test(
        arguments: [
            ("http://one.test/", "https://one.test/"),
            ("http://ONE.test./a/../b?c#d", "https://ONE.test./a/../b?c#d"),
            ("HTTP://one.test:80/", "https://one.test/"),
            ("http://u:80@one.test:80?x=:80", "https://u:80@one.test?x=:80"),
            ("http://one.test:8080/%2f", "https://one.test:8080/%2f"),
            ("http://o%6Ee.test/", "https://o%6Ee.test/"),
            ("http://a.one.test/", nil), ("http://test/", nil), ("https://one.test/", nil),
            ("http://all.test/", "https://all.test/"), ("http://a.b.all.test/", "https://a.b.all.test/"),
            ("http://small.test/", nil), ("http://notall.test/", nil), ("http://127.0.0.1/", nil),
            ("http://[::1]/", nil),
        ] as [(String, String?)])
    func hosts(url: String, expected: String?) throws {
        let store = try store([
            ("https://one.test/", "max-age=60"), ("https://all.test:8443/", "max-age=60; includeSubDomains"),
        ])
        #expect(try upgraded(url, by: store) == expected)
    }

    /// Addresses and plain responses set no entry.
    @Test(arguments: [
        "https://127.0.0.1/", "https://[::1]/", "https://2130706433/", "https://0x7f.1/",
        "https://127.0.0.1./",
        "http://one.test/",
    ])
    func notLearnt(url: String) throws {
        #expect(try store([(url, "max-age=60; includeSubDomains")]).hosts.isEmpty)
    }

    @Test func severalFields() throws {
        let store = HSTSStore()
        try learn("max-age=60", "max-age=0; includeSubDomains", from: "https://one.test/", to: store)
        #expect(store.contents.withLock { $0.hosts.entries.values.map(\.expires) } == [Self.now + 60])
        try learn("none", "max-age=0", from: "https://one.test/", to: store)
        #expect(store.hosts.count == 1)
    }

    @Test func expiry() throws {
        let store = try store([("https://one.test/", "max-age=60")])
        #expect(try upgraded("http://one.test/", by: store, at: Self.now + 59) != nil)
        #expect(try upgraded("http://one.test/", by: store, at: Self.now + 60) == nil)
        try learn("max-age=60; includeSubDomains", from: "https://one.test/", to: store, at: Self.now + 30)
        #expect(try upgraded("http://a.one.test/", by: store, at: Self.now + 60) != nil)
        try learn("max-age=0", from: "https://one.test/", to: store, at: Self.now + 31)
        #expect(try upgraded("http://one.test/", by: store, at: Self.now + 31) == nil)
        #expect(store.hosts.isEmpty)
    }

    /// A host below one that includes it may have an expired entry of its own.
    @Test func aboveAnExpiredOne() throws {
        let store = try store([
            ("https://one.test/", "max-age=600; includeSubDomains"), ("https://a.one.test/", "max-age=1"),
        ])
        #expect(try upgraded("http://a.one.test/", by: store, at: Self.now + 10) != nil)
    }

    @Test func theFirstToExpireGoes() throws {
        var hosts = HSTSHosts()
        for index in 0...HSTSHosts.limit {
            let policy = try #require(HSTSPolicy("max-age=\(1000 + (index + 7) % HSTSHosts.limit)"))
            _ = hosts.record(policy, of: "h\(index).test", at: Self.now)
        }
        #expect(hosts.entries.count == HSTSHosts.limit)
        #expect(hosts.entries["h\(HSTSHosts.limit - 7).test"] == nil)
        #expect(hosts.entries["h\(HSTSHosts.limit).test"] != nil)
    }

    // MARK: - File

    @Test func bytes() throws {
        let store = try store([
            ("https://one.test/", "max-age=60"), ("https://all.test/", "max-age=31536000; includeSubDomains"),
        ])
        let text = """
            # Your HSTS cache. https://curl.se/docs/hsts.html
            .all.test "20271122 10:02:33"
            one.test "20261122 10:03:33"

            """
        let bytes = HSTSFile.bytes(store.contents.withLock { $0.hosts.entries })
        #expect(String(decoding: bytes, as: UTF8.self) == text)
        let read = HSTSFile.entries(bytes)
        #expect(read.map(\.host) == ["all.test", "one.test"])
        #expect(read.map(\.entry.includesSubdomains) == [true, false])
        #expect(read.map(\.entry.expires) == [Self.now + 31_536_000, Self.now + 60])
        #expect(HSTSFile.bytes(Dictionary(uniqueKeysWithValues: read.map { ($0.host, $0.entry) })) == bytes)
    }

    @Test func linesThatAreNone() {
        let long = String(repeating: "a", count: 400)
        let lines = [
            "", "#", "one.test", "one.test 20261122 10:03:33", "one.test \"20261322 10:03:33\"",
            "one.test \"\"",
            "one.test \"20261122 10:03\"", "\(long).test \"20261122 10:03:33\"",
            "127.0.0.1 \"20261122 10:03:33\"",
            ". \"20261122 10:03:33\"", "b\u{0}d.test \"20261122 10:03:33\"", "one.test \"2026112２ 10:03:33\"",
            "last.test \"unlimited\"", "\u{FF}",
        ]
        let read = HSTSFile.entries(Array(lines.joined(separator: "\r\n").utf8) + [0xFF, 0x0A, 0x20, 0x22])
        #expect(read.map(\.host) == ["last.test"])
        #expect(
            String(decoding: HSTSFile.bytes(["last.test": read[0].entry]), as: UTF8.self).contains(
                "unlimited"))
    }
}
