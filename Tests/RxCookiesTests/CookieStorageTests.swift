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

    @Test("A restored jar is the same jar; session cookies are kept by choice", arguments: [false, true])
    func roundTrip(keepsSessionCookies: Bool) throws {
        let first = CookieBench(isStored: true, keepsSessionCookies: keepsSessionCookies)
        try first.set(
            "a=1; Max-Age=100; Path=/x; Domain=a.test; Secure; HttpOnly; SameSite=Strict", from: url)
        try first.set("b=2", from: url)
        try first.set("c=\"ü; Max-Age=100", from: url)
        try first.wait(.seconds(2))
        #expect(first.storage.text.contains(#""version":1"#))
        let second = CookieBench(isStored: true, on: first.clock, storage: first.storage)
        #expect(second.jar.cookies.isEmpty)
        second.jar.restore().subscribe()
        try second.clock.run()
        let kept = first.jar.cookies.filter { keepsSessionCookies || !$0.isSession }
        #expect(kept.count == (keepsSessionCookies ? 3 : 2))
        #expect(second.jar.cookies == kept)
    }

    @Test("Many changes are one write, a second after the first of them")
    func writesAreCoalesced() throws {
        let bench = CookieBench(isStored: true)
        for number in 0..<100 {
            try bench.set("n\(number)=1; Max-Age=1000", from: url)
            try bench.wait(.milliseconds(9))
        }
        #expect(bench.storage.saves == 0)
        try bench.wait(.milliseconds(100))
        #expect(bench.storage.saves == 1)
        try bench.wait(.seconds(60))
        #expect(bench.storage.saves == 1)
        #expect(bench.storage.text.contains("n99"))
        try bench.set("late=1; Max-Age=1000", from: url)
        try bench.wait(.seconds(2))
        #expect(bench.storage.saves == 2)
    }

    @Test("Sending cookies causes no write")
    func readingIsNoWrite() throws {
        let bench = CookieBench(isStored: true)
        try bench.set("a=1; Max-Age=1000", from: url)
        try bench.wait(.seconds(2))
        _ = bench.jar.adding(to: Request(url: try #require(URL(string: url))))
        try bench.wait(.seconds(60))
        #expect(bench.storage.saves == 1)
    }

    @Test(
        "A session cookie is written if session cookies are kept, or if it replaces a persistent one",
        arguments: [false, true])
    func sessionCookies(keepsSessionCookies: Bool) throws {
        let bench = CookieBench(isStored: true, keepsSessionCookies: keepsSessionCookies)
        try bench.set("a=1", from: url)
        try bench.wait(.seconds(2))
        try bench.set("a=2; Max-Age=0", from: url)
        try bench.wait(.seconds(2))
        #expect(bench.storage.saves == (keepsSessionCookies ? 2 : 0))
        try bench.set("b=1; Max-Age=1000", from: url)
        try bench.wait(.seconds(2))
        #expect(bench.storage.text.contains(#""name":"b""#))
        try bench.set("b=1", from: url)
        try bench.wait(.seconds(2))
        #expect(bench.storage.text.contains(#""name":"b""#) == keepsSessionCookies)
    }

    @Test func flushing() throws {
        let bench = CookieBench(isStored: true)
        let nothing = Recorder(bench.jar.flush(), on: bench.clock)
        try bench.set("a=1; Max-Age=1000", from: url)
        let something = Recorder(bench.jar.flush(), on: bench.clock)
        try bench.clock.run()
        #expect(nothing.isFinished && nothing.values.count == 1)
        #expect(something.isFinished && something.values.count == 1)
        #expect(bench.clock.now < .seconds(1) || bench.storage.saves == 1)
        #expect(bench.storage.text.contains(#""name":"a""#))
    }

    @Test("Changes during a write are in the next one, for which flush waits")
    func changesDuringAWrite() throws {
        let gate = Signal<Void>()
        let bench = CookieBench(isStored: true)
        bench.jar.restore().subscribe()
        try bench.clock.run()
        bench.storage.contents.withLock { $0.gate = gate.observable }
        try bench.set("a=1; Max-Age=1000", from: url)
        let first = Recorder(bench.jar.flush(), on: bench.clock)
        try bench.wait(.milliseconds(1))
        try bench.set("b=1; Max-Age=1000", from: url)
        let second = Recorder(bench.jar.flush(), on: bench.clock)
        try bench.wait(.milliseconds(1))
        gate.send()
        try bench.wait(.milliseconds(1))
        #expect(first.isFinished && !second.isFinished)
        #expect(!bench.storage.text.contains(#""name":"b""#))
        gate.send()
        try bench.wait(.milliseconds(1))
        #expect(second.isFinished)
        #expect(bench.storage.text.contains(#""name":"b""#))
        #expect(bench.storage.saves == 2)
    }

    @Test("A failed write is reported, fails the flush, and the next one has all cookies")
    func failedWrites() throws {
        let bench = CookieBench(isStored: true)
        bench.storage.contents.withLock { $0.saveErrors = [NetworkError(.file, "disk full")] }
        try bench.set("a=1; Max-Age=1000", from: url)
        let first = Recorder(bench.jar.flush(), on: bench.clock)
        try bench.clock.run()
        #expect(first.failure?.message == "disk full")
        #expect(bench.events == ["+ a=1", "! disk full"])
        let second = Recorder(bench.jar.flush(), on: bench.clock)
        try bench.clock.run()
        #expect(second.isFinished)
        #expect(bench.storage.text.contains(#""name":"a""#))
    }

    @Test(
        "A damaged file is an empty jar and an error, and is overwritten",
        arguments: ["", "{", "[]", #"{"version":1}"#, #"{"version":2,"cookies":[]}"#, "\0\u{FFFD}"])
    func brokenFiles(text: String) throws {
        let bench = CookieBench(isStored: true, storage: ScriptedStorage(Array(text.utf8)))
        let first = Recorder(bench.jar.restore(), on: bench.clock)
        try bench.clock.run()
        #expect(first.failure?.code == .file)
        #expect(bench.events.count == 1)
        #expect(bench.events.first?.hasPrefix("! the saved cookies cannot be read") == true)
        let second = Recorder(bench.jar.restore(), on: bench.clock)
        try bench.set("a=1; Max-Age=1000", from: url)
        try bench.clock.run()
        #expect(second.isFinished)
        #expect(bench.storage.text.contains(#""name":"a""#))
    }

    @Test("An unreadable file is not overwritten; it is read when that works again")
    func unreadableFiles() throws {
        let old = CookieBench(isStored: true)
        try old.set("old=1; Max-Age=1000", from: url)
        try old.set("gone=1; Max-Age=1000", from: url)
        try old.clock.run()
        let saved = old.storage.text
        let error = NetworkError(.file, "permission denied")
        old.storage.contents.withLock { $0.loadErrors = [error, error] }
        let bench = CookieBench(isStored: true, storage: old.storage)
        let first = Recorder(bench.jar.restore(), on: bench.clock)
        try bench.clock.run()
        #expect(first.failure?.message == "permission denied")
        try bench.set("new=1; Max-Age=1000", from: url)
        bench.jar.remove(try #require(old.jar.cookies.last))
        let flush = Recorder(bench.jar.flush(), on: bench.clock)
        try bench.wait(.milliseconds(1))
        #expect(flush.failure?.message == "the saved cookies cannot be read, so they are kept")
        #expect(bench.storage.text == saved)
        let second = Recorder(bench.jar.restore(), on: bench.clock)
        try bench.clock.run()
        #expect(second.isFinished)
        #expect(bench.jar.cookies.map(\.name) == ["old", "new"])
    }

    @Test("A cookie removed before the file was read is not restored from it")
    func removalsBeforeRestoring() throws {
        let old = CookieBench(isStored: true)
        try old.set("old=1; Max-Age=1000", from: url)
        try old.clock.run()
        let bench = CookieBench(isStored: true, storage: old.storage)
        bench.jar.removeAll()
        try bench.set("new=1; Max-Age=1000", from: url)
        bench.jar.restore().subscribe()
        try bench.clock.run()
        #expect(bench.jar.cookies.map(\.name) == ["new"])
        #expect(!bench.storage.text.contains("old"))
    }

    @Test("Removing everything is saved at once, also while a write runs")
    func removalsAreUrgent() throws {
        let bench = CookieBench(isStored: true)
        try bench.set("a=1; Max-Age=1000", from: url)
        try bench.wait(.seconds(2))
        bench.jar.removeAll()
        try bench.wait(.milliseconds(1))
        #expect(!bench.storage.text.contains(#""name":"a""#))
        let gate = Signal<Void>()
        bench.storage.contents.withLock { $0.gate = gate.observable }
        try bench.set("b=1; Max-Age=1000", from: url)
        try bench.wait(.seconds(1))
        bench.jar.removeAll()
        gate.send()
        try bench.wait(.milliseconds(1))
        gate.send()
        try bench.wait(.milliseconds(1))
        #expect(bench.storage.saves == 4)
        #expect(!bench.storage.text.contains(#""name":"b""#))
    }

    @Test(
        "Cookies that no server could have set are not restored from a file",
        arguments: [
            (#""value":"1""#, #""value":"1\r\nX: y""#), (#""value":"1""#, #""value":"1; b=2""#),
            (#""domain":"a.test""#, #""domain":"test""#), (#""domain":"a.test""#, #""domain":"A.test""#),
            (#""domain":"a.test""#, #""domain":"""#), (#""domain":"a.test""#, #""domain":"127.0.0.1""#),
            (#""path":"/x""#, #""path":"x""#), (#""path":"/x""#, #""path":"/x\n""#),
            (#""name":"a""#, #""name":"a=b""#), (#""name":"a""#, #""name":"__Host-a""#),
            (#""name":"a""#, #""name":" a""#),
        ])
    func unsoundCookies(old: String, new: String) throws {
        let first = CookieBench()
        try first.set("a=1; Max-Age=100; Path=/x; Domain=a.test; Secure", from: url)
        let text = String(decoding: try first.jar.dump(), as: UTF8.self)
        #expect(text.contains(old))
        let second = CookieBench()
        try second.jar.restore(from: Array(text.utf8))
        #expect(second.jar.cookies.count == 1)
        second.jar.removeAll()
        let parts = text.split(separator: old, maxSplits: 1, omittingEmptySubsequences: false)
        try second.jar.restore(from: Array((parts[0] + new + parts[1]).utf8))
        #expect(second.jar.cookies.isEmpty)
    }

    @Test("Removing by domain, by session, a single one, all")
    func removing() throws {
        func bench() throws -> CookieBench {
            let bench = CookieBench()
            try bench.set("a=1; Max-Age=100", from: "http://a.test")
            try bench.set("b=1; Domain=a.test", from: "http://x.a.test")
            try bench.set("c=1", from: "http://x.a.test")
            try bench.set("d=1; Max-Age=100", from: "http://ba.test")
            return bench
        }
        let domain = try bench(), below = try bench(), session = try bench(), all = try bench()
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
