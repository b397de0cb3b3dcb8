import FoundationEssentials
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import TestCookies
import Testing

@testable import RxCookies

/// Cookies that outlive the process, and failures of their file with the least possible loss.
@Suite struct CookieStorageTests {
    private let url = "https://a.test/"

    /// A restored jar is the same jar; session cookies are kept by choice.
    @Test(arguments: [false, true])
    func roundTrip(keepsSessionCookies: Bool) throws {
        let first = CookieFixture(isStored: true, keepsSessionCookies: keepsSessionCookies)
        try first.set(
            "a=1; Max-Age=100; Path=/x; Domain=a.test; Secure; HttpOnly; SameSite=Strict", from: url)
        try first.set("b=2", from: url)
        try first.set("c=\"ü; Max-Age=100", from: url)
        try first.wait(.seconds(2))
        #expect(first.storage.text.contains(#""version":1"#))
        let second = CookieFixture(isStored: true, on: first.clock, storage: first.storage)
        #expect(second.jar.cookies.isEmpty)
        second.jar.restore().subscribe()
        try second.clock.run()
        let kept = first.jar.cookies.filter { keepsSessionCookies || !$0.isSession }
        #expect(kept.count == (keepsSessionCookies ? 3 : 2))
        #expect(second.jar.cookies == kept)
    }

    /// Many changes are one write, a second after the first of them.
    @Test func writesAreCoalesced() throws {
        let fixture = CookieFixture(isStored: true)
        for number in 0..<100 {
            try fixture.set("n\(number)=1; Max-Age=1000", from: url)
            try fixture.wait(.milliseconds(9))
        }
        #expect(fixture.storage.saves == 0)
        try fixture.wait(.milliseconds(100))
        #expect(fixture.storage.saves == 1)
        try fixture.wait(.seconds(60))
        #expect(fixture.storage.saves == 1)
        #expect(fixture.storage.text.contains("n99"))
        try fixture.set("late=1; Max-Age=1000", from: url)
        try fixture.wait(.seconds(2))
        #expect(fixture.storage.saves == 2)
    }

    /// Sending cookies causes no write.
    @Test func readingIsNoWrite() throws {
        let fixture = CookieFixture(isStored: true)
        try fixture.set("a=1; Max-Age=1000", from: url)
        try fixture.wait(.seconds(2))
        _ = fixture.jar.adding(to: Request(url: try #require(URL(string: url))))
        try fixture.wait(.seconds(60))
        #expect(fixture.storage.saves == 1)
    }

    /// A session cookie is written if session cookies are kept, or if it replaces a persistent one.
    @Test(arguments: [false, true])
    func sessionCookies(keepsSessionCookies: Bool) throws {
        let fixture = CookieFixture(isStored: true, keepsSessionCookies: keepsSessionCookies)
        try fixture.set("a=1", from: url)
        try fixture.wait(.seconds(2))
        try fixture.set("a=2; Max-Age=0", from: url)
        try fixture.wait(.seconds(2))
        #expect(fixture.storage.saves == (keepsSessionCookies ? 2 : 0))
        try fixture.set("b=1; Max-Age=1000", from: url)
        try fixture.wait(.seconds(2))
        #expect(fixture.storage.text.contains(#""name":"b""#))
        try fixture.set("b=1", from: url)
        try fixture.wait(.seconds(2))
        #expect(fixture.storage.text.contains(#""name":"b""#) == keepsSessionCookies)
    }

    @Test func flushing() throws {
        let fixture = CookieFixture(isStored: true)
        let nothing = Recorder(fixture.jar.flush(), on: fixture.clock)
        try fixture.set("a=1; Max-Age=1000", from: url)
        let something = Recorder(fixture.jar.flush(), on: fixture.clock)
        try fixture.clock.run()
        #expect(nothing.isFinished && nothing.values.count == 1)
        #expect(something.isFinished && something.values.count == 1)
        #expect(fixture.clock.now < .seconds(1) || fixture.storage.saves == 1)
        #expect(fixture.storage.text.contains(#""name":"a""#))
    }

    /// Changes during a write are in the next one, for which flush waits.
    @Test func changesDuringAWrite() throws {
        let gate = Signal<Void>()
        let fixture = CookieFixture(isStored: true)
        fixture.jar.restore().subscribe()
        try fixture.clock.run()
        fixture.storage.contents.withLock { $0.gate = gate.observable }
        try fixture.set("a=1; Max-Age=1000", from: url)
        let first = Recorder(fixture.jar.flush(), on: fixture.clock)
        try fixture.wait(.milliseconds(1))
        try fixture.set("b=1; Max-Age=1000", from: url)
        let second = Recorder(fixture.jar.flush(), on: fixture.clock)
        try fixture.wait(.milliseconds(1))
        gate.send()
        try fixture.wait(.milliseconds(1))
        #expect(first.isFinished && !second.isFinished)
        #expect(!fixture.storage.text.contains(#""name":"b""#))
        gate.send()
        try fixture.wait(.milliseconds(1))
        #expect(second.isFinished)
        #expect(fixture.storage.text.contains(#""name":"b""#))
        #expect(fixture.storage.saves == 2)
    }

    /// A failed write is reported, fails the flush, and the next one has all cookies.
    @Test func failedWrites() throws {
        let fixture = CookieFixture(isStored: true)
        fixture.storage.contents.withLock { $0.saveErrors = [NetworkError(.file, "disk full")] }
        try fixture.set("a=1; Max-Age=1000", from: url)
        let first = Recorder(fixture.jar.flush(), on: fixture.clock)
        try fixture.clock.run()
        #expect(first.failure?.message == "disk full")
        #expect(fixture.events == ["+ a=1", "! disk full"])
        let second = Recorder(fixture.jar.flush(), on: fixture.clock)
        try fixture.clock.run()
        #expect(second.isFinished)
        #expect(fixture.storage.text.contains(#""name":"a""#))
    }

    /// A damaged file is an empty jar and an error, and is overwritten.
    @Test(arguments: ["", "{", "[]", #"{"version":1}"#, #"{"version":2,"cookies":[]}"#, "\0\u{FFFD}"])
    func brokenFiles(text: String) throws {
        let fixture = CookieFixture(isStored: true, storage: ScriptedStorage(Array(text.utf8)))
        let first = Recorder(fixture.jar.restore(), on: fixture.clock)
        try fixture.clock.run()
        #expect(first.failure?.code == .file)
        #expect(fixture.events.count == 1)
        #expect(fixture.events.first?.hasPrefix("! the saved cookies cannot be read") == true)
        let second = Recorder(fixture.jar.restore(), on: fixture.clock)
        try fixture.set("a=1; Max-Age=1000", from: url)
        try fixture.clock.run()
        #expect(second.isFinished)
        #expect(fixture.storage.text.contains(#""name":"a""#))
    }

    /// An unreadable file is not overwritten; it is read when that works again.
    @Test func unreadableFiles() throws {
        let old = CookieFixture(isStored: true)
        try old.set("old=1; Max-Age=1000", from: url)
        try old.set("gone=1; Max-Age=1000", from: url)
        try old.clock.run()
        let saved = old.storage.text
        let error = NetworkError(.file, "permission denied")
        old.storage.contents.withLock { $0.loadErrors = [error, error] }
        let fixture = CookieFixture(isStored: true, storage: old.storage)
        let first = Recorder(fixture.jar.restore(), on: fixture.clock)
        try fixture.clock.run()
        #expect(first.failure?.message == "permission denied")
        try fixture.set("new=1; Max-Age=1000", from: url)
        fixture.jar.remove(try #require(old.jar.cookies.last))
        let flush = Recorder(fixture.jar.flush(), on: fixture.clock)
        try fixture.wait(.milliseconds(1))
        #expect(flush.failure?.message == "the saved cookies cannot be read, so they are kept")
        #expect(fixture.storage.text == saved)
        let second = Recorder(fixture.jar.restore(), on: fixture.clock)
        try fixture.clock.run()
        #expect(second.isFinished)
        #expect(fixture.jar.cookies.map(\.name) == ["old", "new"])
    }

    /// A cookie removed before the file was read is not restored from it.
    @Test func removalsBeforeRestoring() throws {
        let old = CookieFixture(isStored: true)
        try old.set("old=1; Max-Age=1000", from: url)
        try old.clock.run()
        let fixture = CookieFixture(isStored: true, storage: old.storage)
        fixture.jar.removeAll()
        try fixture.set("new=1; Max-Age=1000", from: url)
        fixture.jar.restore().subscribe()
        try fixture.clock.run()
        #expect(fixture.jar.cookies.map(\.name) == ["new"])
        #expect(!fixture.storage.text.contains("old"))
    }

    /// Removing everything is saved at once, also while a write runs.
    @Test func removalsAreUrgent() throws {
        let fixture = CookieFixture(isStored: true)
        try fixture.set("a=1; Max-Age=1000", from: url)
        try fixture.wait(.seconds(2))
        fixture.jar.removeAll()
        try fixture.wait(.milliseconds(1))
        #expect(!fixture.storage.text.contains(#""name":"a""#))
        let gate = Signal<Void>()
        fixture.storage.contents.withLock { $0.gate = gate.observable }
        try fixture.set("b=1; Max-Age=1000", from: url)
        try fixture.wait(.seconds(1))
        fixture.jar.removeAll()
        gate.send()
        try fixture.wait(.milliseconds(1))
        gate.send()
        try fixture.wait(.milliseconds(1))
        #expect(fixture.storage.saves == 4)
        #expect(!fixture.storage.text.contains(#""name":"b""#))
    }

    /// A jar for more cookies than usual reads a larger file.
    @Test(arguments: [(3000, false), (6000, true), (Int.max, true)])
    func largeFiles(countLimit: Int, isRead: Bool) throws {
        let old = CookieFixture()
        try old.set("a=1; Max-Age=1000", from: url)
        let files = MemoryFileSystem(on: old.clock)
        let blanks = [UInt8](repeating: UInt8(ascii: " "), count: 70 << 20)
        _ = Recorder(files.replace("/jar", with: blanks + (try old.jar.dump())), on: old.clock)
        try old.clock.run()
        let jar = CookieJar(
            publicSuffixes: CookieFixture.suffixes, limits: CookieLimits(total: countLimit),
            storage: .file("/jar", on: files), clock: old.clock)
        let restored = Recorder(jar.restore(), on: old.clock)
        try old.clock.run()
        #expect(restored.failure?.code == (isRead ? nil : .file))
        #expect(jar.cookies.count == (isRead ? 1 : 0))
    }

    /// Cookies of long paths, which would make a file that cannot be read, are not saved. The last save stays.
    @Test func oversizedJar() throws {
        let clock = VirtualScheduler(startingAt: Date(timeIntervalSince1970: 0))
        let files = MemoryFileSystem(on: clock)
        func jar() -> CookieJar {
            CookieJar(
                publicSuffixes: CookieFixture.suffixes, storage: .file("/jar", on: files), clock: clock)
        }
        func flush(_ jar: CookieJar) throws -> NetworkError? {
            let flush = Recorder(jar.flush(), on: clock)
            try clock.advance(by: .seconds(2))
            return flush.failure
        }
        let first = jar()
        try first.set("a=1; Max-Age=1000", from: try #require(URL(string: url)))
        let early = try flush(first)
        #expect(early == nil)
        let path = "/" + String(repeating: "x", count: 1 << 20) + "/"
        for number in 0..<70 {
            let long = try #require(URL(string: "https://n\(number).test\(path)"))
            try first.set("b=1; Max-Age=1000", from: long)
        }
        let late = try flush(first)
        #expect(late?.message.hasPrefix("the cookies cannot be saved: they have ") == true)
        let second = jar()
        let restored = Recorder(second.restore(), on: clock)
        try clock.advance(by: .seconds(2))
        #expect(restored.isFinished && second.cookies.map(\.name) == ["a"])
        first.removeAll()
        let last = try flush(first)
        #expect(last == nil)
    }

    /// Cookies that no server could have set are not restored from a file.
    @Test(arguments: [
        (#""value":"1""#, #""value":"1\r\nX: y""#), (#""value":"1""#, #""value":"1; b=2""#),
        (#""domain":"a.test""#, #""domain":"test""#), (#""domain":"a.test""#, #""domain":"A.test""#),
        (#""domain":"a.test""#, #""domain":"""#), (#""domain":"a.test""#, #""domain":"127.0.0.1""#),
        (#""path":"/x""#, #""path":"x""#), (#""path":"/x""#, #""path":"/x\n""#),
        (#""name":"a""#, #""name":"a=b""#), (#""name":"a""#, #""name":"__Host-a""#),
        (#""name":"a""#, #""name":" a""#),
    ])
    func unsoundCookies(old: String, new: String) throws {
        let first = CookieFixture()
        try first.set("a=1; Max-Age=100; Path=/x; Domain=a.test; Secure", from: url)
        let text = String(decoding: try first.jar.dump(), as: UTF8.self)
        #expect(text.contains(old))
        let second = CookieFixture()
        try second.jar.restore(from: Array(text.utf8))
        #expect(second.jar.cookies.count == 1)
        second.jar.removeAll()
        let parts = text.split(separator: old, maxSplits: 1, omittingEmptySubsequences: false)
        try second.jar.restore(from: Array((parts[0] + new + parts[1]).utf8))
        #expect(second.jar.cookies.isEmpty)
    }

    /// Removing by domain, by session, a single one, all.
    @Test func removing() throws {
        func fixture() throws -> CookieFixture {
            let fixture = CookieFixture()
            try fixture.set("a=1; Max-Age=100", from: "http://a.test")
            try fixture.set("b=1; Domain=a.test", from: "http://x.a.test")
            try fixture.set("c=1", from: "http://x.a.test")
            try fixture.set("d=1; Max-Age=100", from: "http://ba.test")
            return fixture
        }
        let domain = try fixture(), below = try fixture(), session = try fixture(), all = try fixture()
        domain.jar.removeAll(domain: ".A.test")
        #expect(domain.jar.cookies.map(\.name) == ["d"])
        below.jar.removeAll(domain: "x.a.test")
        #expect(below.jar.cookies.map(\.name) == ["a", "b", "d"])
        session.jar.removeSessionCookies()
        #expect(session.jar.cookies.map(\.name) == ["a", "d"])
        all.jar.removeAll()
        #expect(all.jar.cookies.isEmpty)
        #expect(Set(all.events.suffix(4)) == ["- a", "- b", "- c", "- d"])
    }
}
