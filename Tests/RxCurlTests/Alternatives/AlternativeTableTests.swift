import RxHTTP
import Testing

@testable import RxCurl

/// The table of alternatives, with times in seconds.
@Suite struct AlternativeTableTests {
    private let origin = AlternativeTable.HTTPSOrigin(host: "a.test", port: 443)

    private func table(_ value: String, at now: Int = 1000) -> AlternativeTable {
        var table = AlternativeTable()
        _ = table.take(AlternativeServiceField(value.utf8), from: origin, over: "h2", at: now)
        return table
    }

    /// HTTP/3 at the same host and port counts.
    @Test(arguments: [
        (#"h3=":443""#, true), (#"h3="a.test:443""#, true), (#"h2=":443", h3=":443""#, true),
        (#"h3=":8443""#, false), (#"h3="b.test:443""#, false), (#"h3-29=":443""#, false),
        (#"h2=":443""#, false),
        (#"h3=":443"; ma=0"#, false), ("clear", false),
    ])
    func names(value: String, isNamed: Bool) {
        #expect(table(value).namesHTTP3(origin, at: 1000) == isNamed)
    }

    @Test func itHoldsForItsTime() {
        let table = table(#"h3=":443"; ma=60"#)
        #expect(table.namesHTTP3(origin, at: 1059))
        #expect(!table.namesHTTP3(origin, at: 1060))
    }

    /// RFC 7838 §3.1: the time starts with the response, which a cache may have stored.
    @Test func theAgeOfTheResponseIsAPartOfItsTime() {
        var table = AlternativeTable()
        let field = AlternativeServiceField(#"h3=":443"; ma=60"#.utf8)
        _ = table.take(field, from: origin, over: "h2", age: 20, at: 1000)
        #expect(table.namesHTTP3(origin, at: 1039))
        #expect(!table.namesHTTP3(origin, at: 1040))
        _ = table.take(field, from: origin, over: "h2", age: 60, at: 1000)
        #expect(!table.namesHTTP3(origin, at: 1000))
    }

    /// RFC 7838 §6. Alternatives at other hosts stay.
    @Test func aMisdirectedRequestRemovesTheEntry() {
        var table = table(#"h3=":443", h2=":443", h3=":8443"; ma=60, h3="a.test:443""#)
        let changes = [table.forgetHTTP3(origin), table.forgetHTTP3(origin)]
        #expect(changes == [true, false])
        #expect(!table.namesHTTP3(origin, at: 1000))
        #expect(table.entries[origin]?.services.map(\.protocolID) == ["h2", "h3"])
        #expect(table.entries[origin]?.services.map(\.port) == [443, 8443])
        #expect(table.entries[origin]?.ends == [1000 + 24 * 3600, 1060])
        var only = self.table(#"h3=":443""#)
        _ = only.forgetHTTP3(origin)
        #expect(only.entries.isEmpty)
    }

    @Test(arguments: ["clear", #"h2=":443""#, #"h3=":443"; ma=0"#, ""])
    func aLaterWordTakesThePlaceOfAnEarlierOne(value: String) {
        var table = table(#"h3=":443""#)
        let isChanged = table.take(AlternativeServiceField(value.utf8), from: origin, over: "h2", at: 1001)
        #expect(isChanged)
        #expect(!table.namesHTTP3(origin, at: 1001))
    }

    @Test func whatIsWorthSaving() {
        var table = AlternativeTable()
        func take(_ field: String, at now: Int) -> Bool {
            table.take(AlternativeServiceField(field.utf8), from: origin, over: "h2", at: now)
        }
        let field = #"h3=":443"; ma=1000"#
        let results = [take(field, at: 0), take(field, at: 100)]
        // The time counts from the latest response nevertheless.
        #expect(table.namesHTTP3(origin, at: 1099))
        #expect(
            results + [take(field, at: 201), take("clear", at: 202), take("clear", at: 203)] == [
                true, false, true, true, false,
            ])
    }

    /// Each response moves the end by too little to be saved, but all of them together do not.
    @Test func theEndIsComparedWithTheOneThatWasSaved() {
        var table = AlternativeTable()
        let results = [0, 60, 120, 180, 240].map { now in
            table.take(
                AlternativeServiceField(#"h3=":443"; ma=1000"#.utf8), from: origin, over: "h2", at: now)
        }
        #expect(results == [true, false, true, false, true])
    }

    @Test func theSameAfterARestartIsNotSavedAgain() {
        let old = table(#"h3=":443"; ma=1000"#)
        var new = AlternativeTable()
        new.add(old.text(at: 1000), at: 1050)
        let field = AlternativeServiceField(#"h3=":443"; ma=1000"#.utf8)
        #expect([1060, 1200].map { new.take(field, from: origin, over: "h2", at: $0) } == [false, true])
    }

    @Test func theOneThatEndsFirstMakesRoom() {
        var table = AlternativeTable()
        for port in 1...AlternativeTable.limit + 1 {
            let field = AlternativeServiceField(#"h3=":\#(port)"; ma=\#(port == 7 ? 50 : 100)"#.utf8)
            let origin = AlternativeTable.HTTPSOrigin(host: "a.test", port: port)
            _ = table.take(field, from: origin, over: "h2", at: 0)
        }
        #expect(table.entries.count == AlternativeTable.limit)
        #expect(table.entries[.init(host: "a.test", port: 7)] == nil)
    }

    // MARK: - Failures

    @Test func eachFailureKeepsItAwayForTwiceAsLong() {
        var table = AlternativeTable()
        var now = 0
        for minutes in [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 2880, 2880, 2880] {
            table.recordFailure(origin, at: now)
            // Failures of requests that were under way.
            table.recordFailure(origin, at: now + 1)
            #expect(table.isBroken(origin, at: now + minutes * 60 - 1))
            now += minutes * 60
            #expect(!table.isBroken(origin, at: now))
        }
        table.recordSuccess(origin)
        table.recordFailure(origin, at: now)
        #expect(!table.isBroken(origin, at: now + 300))
    }

    @Test func aClockThatWasSetBackDoesNotKeepItAway() {
        var table = AlternativeTable()
        table.recordFailure(origin, at: 1_000_000)
        #expect(table.isBroken(origin, at: 1_000_000))
        #expect(!table.isBroken(origin, at: 0))
    }

    @Test func failuresAreLimitedInNumber() {
        var table = AlternativeTable()
        for port in 1...2000 { table.recordFailure(.init(host: "a.test", port: port), at: port) }
        #expect((1...2000).count { table.isBroken(.init(host: "a.test", port: $0), at: 2000) } < 1024)
        #expect(table.isBroken(.init(host: "a.test", port: 2000), at: 2000))
    }

    // MARK: - File

    @Test func itIsWrittenAsCurlWritesIt() {
        // 2030-12-31 23:59:59.
        let table = table(#"h3=":443"; ma=60; persist=1, h2="[::1]:8443"; ma=60, x=":1""#, at: 1_924_991_939)
        let lines = String(decoding: table.text(at: 1_924_991_939), as: UTF8.self).split(separator: "\n")
        #expect(lines.first?.hasPrefix("#") == true)
        #expect(
            lines.dropFirst() == [
                #"h2 a.test 443 h3 a.test 443 "20301231 23:59:59" 1 0"#,
                #"h2 a.test 443 h2 [::1] 8443 "20301231 23:59:59" 0 0"#,
            ])
    }

    @Test func itIsReadAgain() {
        let old = table(#"h3=":443"; ma=60; persist=1, h2="[::1]:8443"; ma=60"#)
        var new = AlternativeTable()
        new.add(old.text(at: 1000), at: 1030)
        #expect(new.entries[origin]?.ends == [1060, 1060])
        #expect(new.entries[origin]?.services.map(\.host) == ["a.test", "::1"])
        #expect(new.entries[origin]?.services.map(\.persists) == [true, false])
        #expect(new.namesHTTP3(origin, at: 1059))
        #expect(new.text(at: 1030) == old.text(at: 1030))
        #expect(!new.namesHTTP3(origin, at: 1060))
    }

    /// The alternatives that end last are written, up to the limit of reading.
    @Test func aFileIsNoLargerThanIsRead() {
        var table = AlternativeTable()
        let long = String(repeating: "a", count: 200)
        for port in 1...AlternativeTable.limit {
            let names = (1...AlternativeService.limit).map { #"h3="\#(long):\#($0)"; ma=\#(1000 + port)"# }
            let field = AlternativeServiceField(names.joined(separator: ", ").utf8)
            let origin = AlternativeTable.HTTPSOrigin(host: long, port: port)
            _ = table.take(field, from: origin, over: "h2", at: 1000)
        }
        let text = table.text(at: 1000)
        #expect(text.count <= AlternativeTable.fileLimit)
        // There is no room for another origin.
        let longest = AlternativeService.limit * AlternativeTable.lineLimit
        #expect(text.count > AlternativeTable.fileLimit - longest)
        var new = AlternativeTable()
        new.add(text, at: 1000)
        let ports = new.entries.keys.map(\.port).sorted()
        #expect(ports == Array((AlternativeTable.limit + 1 - ports.count)...AlternativeTable.limit))
        #expect(new.entries.values.allSatisfy { $0.services.count == AlternativeService.limit })
        #expect(new.text(at: 1000) == text)
    }

    @Test func aLineIsNoLongerThanIsRead() {
        let origin = AlternativeTable.HTTPSOrigin(host: String(repeating: "a", count: 1000), port: 443)
        var table = AlternativeTable()
        let field = AlternativeServiceField(#"h3=":443", h3="b.test:443""#.utf8)
        _ = table.take(field, from: origin, over: "h2", at: 0)
        #expect(table.text(at: 0).split(separator: UInt8(ascii: "\n")).count == 1)
    }

    @Test func whatIsKnownByNowIsNewerThanTheFile() {
        let old = table(#"h3=":443""#)
        var new = table(#"h2=":443""#)
        new.add(old.text(at: 1000), at: 1000)
        #expect(!new.namesHTTP3(origin, at: 1000))
    }

    /// Invalid lines are skipped.
    @Test(arguments: [
        "", "#", "h3", #"h2 a.test 443 h3 a.test 443 "20301231 23:59:59" 0"#,
        #"h2 a.test 443 h3 a.test 443 "20301331 23:59:59" 0 0"#,
        #"h2 a.test 0 h3 a.test 443 "20301231 23:59:59" 0 0"#,
        #"h9 a.test 443 h3 a.test 443 "20301231 23:59:59" 0 0"#,
        #"h2 a.test 443 h3 a.test 443 20301231 23:59:59 0 0"#,
        #"h2 a.test 443 h3 a.test 443 "20301231 23:59:5é" 0 0"#,
        #"h2 a.test 443 h3 a.test 443 "20501231 23:59:59" 0 0"#, String(repeating: "h2 ", count: 1000),
    ])
    func lines(line: String) {
        let good = #"h2 b.test 443 h3 b.test 443 "20301231 23:59:59" 0 0"#
        var table = AlternativeTable()
        table.add(Array("\(line)\r\n\(good)\n".utf8), at: 1_924_900_000)
        #expect(Array(table.entries.keys) == [.init(host: "b.test", port: 443)])
    }
}
