#if Fleet
import RxTesting
import Testing

@testable import RxFleet

/// The reading of RESP3.
@Suite struct RESPTests {
    private static func parse(
        _ bytes: [UInt8], limits: RESPParser.Limits = .init(), sizes: () -> Int = { .max }
    ) throws(RESPError) -> [RESPValue] {
        var parser = RESPParser(limits: limits)
        var values: [RESPValue] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let size = max(1, min(sizes(), rest.count))
            parser.append(rest.prefix(size))
            rest = rest.dropFirst(size)
            while let value = try parser.next() { values.append(value) }
        }
        return values
    }

    private static func parse(_ text: String, limits: RESPParser.Limits = .init()) throws(RESPError)
        -> [RESPValue]
    {
        try parse(Array(text.utf8), limits: limits)
    }

    /// The examples of the specification.
    @Test(
        arguments: [
            ("+OK\r\n", .simple("OK")), ("+\r\n", .simple("")),
            ("-ERR no\r\n", .error(RESPFailure(text: "ERR no"))),
            ("!21\r\nSYNTAX invalid syntax\r\n", .error(RESPFailure(text: "SYNTAX invalid syntax"))),
            (":0\r\n", .integer(0)), (":-9223372036854775808\r\n", .integer(.min)), (":+7\r\n", .integer(7)),
            ("$5\r\nhello\r\n", .string(Array("hello".utf8))), ("$0\r\n\r\n", .string([])),
            ("$2\r\n\r\n\r\n", .string([13, 10])), ("$-1\r\n", .null), ("*-1\r\n", .null), ("_\r\n", .null),
            ("#t\r\n", .boolean(true)), ("#f\r\n", .boolean(false)),
            (",1.23\r\n", .double(1.23)), (",inf\r\n", .double(.infinity)),
            (",-inf\r\n", .double(-.infinity)),
            (",1.5e-7\r\n", .double(1.5e-7)), (",10\r\n", .double(10)),
            (
                "(3492890328409238509324850943850943825024385\r\n",
                .bigNumber("3492890328409238509324850943850943825024385")
            ),
            ("=15\r\ntxt:Some string\r\n", .string(Array("Some string".utf8))),
            ("*0\r\n", .array([])), ("%0\r\n", .map([])), ("~0\r\n", .set([])),
            ("*2\r\n*1\r\n:1\r\n_\r\n", .array([.array([.integer(1)]), .null])),
            ("~2\r\n+a\r\n+b\r\n", .set([.simple("a"), .simple("b")])),
            (
                "%2\r\n+a\r\n:1\r\n+b\r\n:2\r\n",
                .map([.simple("a"), .integer(1), .simple("b"), .integer(2)])
            ),
            (">2\r\n+invalidate\r\n_\r\n", .push([.simple("invalidate"), .null])),
            ("|1\r\n+ttl\r\n:3600\r\n:5\r\n", .integer(5)), ("|0\r\n:5\r\n", .integer(5)),
            ("*2\r\n:1\r\n|1\r\n+a\r\n*1\r\n:9\r\n:2\r\n", .array([.integer(1), .integer(2)])),
        ] as [(String, RESPValue)])
    func values(text: String, value: RESPValue) throws {
        #expect(try Self.parse(text) == [value])
        #expect(try Self.parse(text + text) == [value, value])
        for end in 0..<text.utf8.count { #expect(try Self.parse(Array(text.utf8.prefix(end))) == []) }
    }

    /// Bytes that are not RESP3 are refused with the reason.
    @Test(
        arguments: [
            ("HTTP/1.1 400 Bad Request\r\n", .unknownType(72)), ("\r\n", .unknownType(13)),
            ("+a\nb\r\n", .lineEnd), ("+a\rb\r\n", .lineEnd), ("$1\r\nab\r\n", .lineEnd),
            ("$3\r\nab\r\n\r\n", .lineEnd),
            (":\r\n", .malformed), (":1a\r\n", .malformed), (": 1\r\n", .malformed),
            (":9223372036854775808\r\n", .malformed), ("$-2\r\n", .malformed), ("*-2\r\n", .malformed),
            ("%-1\r\n", .malformed), ("#x\r\n", .malformed), ("#\r\n", .malformed), ("_x\r\n", .malformed),
            (",0x1p3\r\n", .malformed), (",\r\n", .malformed), ("(-\r\n", .malformed),
            ("(1.5\r\n", .malformed),
            ("=3\r\nabc\r\n", .malformed), ("=4\r\nabcd\r\n", .malformed), (">0\r\n", .malformed),
            ("*1\r\n>1\r\n+a\r\n", .malformed), ("$?\r\n", .streamed), ("*?\r\n", .streamed),
            ("$\r\n", .streamed),
            ("$99999999999\r\n", .longString), ("*99999999999\r\n", .manyElements),
            ("$9223372036854775807\r\n", .longString), ("*9223372036854775807\r\n", .manyElements),
        ] as [(String, RESPError)])
    func refusals(text: String, error: RESPError) {
        #expect(throws: error) { try Self.parse(text) }
        #expect(throws: error) { try Self.parse(Array(text.utf8), sizes: { 1 }) }
        #expect(throws: error) { try Self.parse("+OK\r\n" + text) }
    }

    /// After an error nothing is read any more, and nothing is kept.
    @Test func afterwards() throws {
        var parser = RESPParser()
        parser.append(Array("x\r\n+OK\r\n".utf8))
        #expect(throws: RESPError.unknownType(120)) { try parser.next() }
        parser.append(Array("+OK\r\n".utf8))
        #expect(throws: RESPError.unknownType(120)) { try parser.next() }
        #expect(parser.pendingCount == 0)
    }

    /// An attribute counts towards the limits of the value that it precedes, also of a string by itself, and not of the next.
    @Test func attributesCount() throws {
        var limits = RESPParser.Limits()
        limits.total = 45
        let string = "$20\r\n\(String(repeating: "a", count: 20))\r\n"
        let attribute = "|1\r\n+key\r\n+value\r\n"
        #expect(try Self.parse(string + string, limits: limits).count == 2)
        #expect(throws: RESPError.longValue) {
            try Self.parse(attribute + attribute + string, limits: limits)
        }
        #expect(try Self.parse(attribute + string + string, limits: limits).count == 2)
        limits.total = 4000
        limits.elements = 3
        #expect(try Self.parse(attribute + string + string, limits: limits).count == 2)
        #expect(throws: RESPError.manyElements) {
            try Self.parse(attribute + attribute + string, limits: limits)
        }
    }

    /// Each limit holds, for values that are complete and for those that never will be.
    @Test func limits() throws {
        var limits = RESPParser.Limits()
        (limits.line, limits.string, limits.elements, limits.depth, limits.total) = (100, 1000, 10, 3, 4000)
        let line = String(repeating: "a", count: 99)
        #expect(try Self.parse("+\(line)\r\n", limits: limits).count == 1)
        #expect(throws: RESPError.longLine) { try Self.parse("+\(line)a\r\n", limits: limits) }
        #expect(throws: RESPError.longLine) { try Self.parse("+\(line)a", limits: limits) }
        #expect(throws: RESPError.longString) { try Self.parse("$1001\r\n", limits: limits) }
        let nine = String(repeating: ":1\r\n", count: 9)
        #expect(try Self.parse("*9\r\n" + nine, limits: limits).count == 1)
        #expect(throws: RESPError.manyElements) {
            try Self.parse("*10\r\n" + nine + ":1\r\n", limits: limits)
        }
        #expect(throws: RESPError.manyElements) {
            try Self.parse("*3\r\n" + String(repeating: "*3\r\n:1\r\n:1\r\n:1\r\n", count: 3), limits: limits)
        }
        #expect(try Self.parse("*1\r\n*1\r\n*1\r\n:1\r\n", limits: limits).count == 1)
        #expect(throws: RESPError.deepNesting) { try Self.parse("*1\r\n*1\r\n*1\r\n*1\r\n", limits: limits) }
        let string = "$999\r\n\(String(repeating: "b", count: 999))\r\n"
        #expect(throws: RESPError.longValue) {
            try Self.parse("*8\r\n" + String(repeating: string, count: 8), limits: limits)
        }
        #expect(throws: RESPError.longValue) {
            try Self.parse(String(repeating: "|0\r\n", count: 2000), limits: limits)
        }
        // The limits are those of one value.
        #expect(try Self.parse(String(repeating: string, count: 100), limits: limits).count == 100)
        #expect(try Self.parse(String(repeating: "*9\r\n" + nine, count: 100), limits: limits).count == 100)
    }

    // MARK: - Random values

    private static func value(_ random: inout SeededRandom, depth: Int = 0) -> RESPValue {
        func bytes() -> [UInt8] {
            (0..<Int.random(in: 0...40, using: &random)).map { _ in
                UInt8.random(in: .min ... .max, using: &random)
            }
        }
        func text() -> String { String(bytes().map { Character(Unicode.Scalar($0 % 26 + 97)) }) }
        func elements(_ count: ClosedRange<Int>, _ step: Int = 1) -> [RESPValue] {
            (0..<step * Int.random(in: count, using: &random)).map { _ in value(&random, depth: depth + 1) }
        }
        switch Int.random(in: 0..<(depth < 4 ? 12 : 8), using: &random) {
        case 0: return .simple(text())
        case 1: return .error(RESPFailure(text: text()))
        case 2: return .integer(.random(in: .min ... .max, using: &random))
        case 3: return .double(Double(Int.random(in: -1000...1000, using: &random)) / 8)
        case 4: return .boolean(.random(using: &random))
        case 5: return .null
        case 6: return .bigNumber("\(UInt64.random(in: .min ... .max, using: &random))000")
        case 7: return .string(bytes())
        case 8: return .array(elements(0...4))
        case 9: return .set(elements(0...4))
        case 10: return .map(elements(0...3, 2))
        default: return depth == 0 ? .push(elements(1...4)) : .array(elements(0...1))
        }
    }

    /// The form of the specification, independent of the sources.
    private static func form(_ value: RESPValue) -> [UInt8] {
        func aggregate(_ type: String, _ count: Int, _ elements: [RESPValue]) -> [UInt8] {
            Array("\(type)\(count)\r\n".utf8) + elements.flatMap { form($0) }
        }
        switch value {
        case .simple(let text): return Array("+\(text)\r\n".utf8)
        case .error(let failure): return Array("-\(failure.text)\r\n".utf8)
        case .integer(let number): return Array(":\(number)\r\n".utf8)
        case .double(let number): return Array(",\(number)\r\n".utf8)
        case .boolean(let flag): return Array("#\(flag ? "t" : "f")\r\n".utf8)
        case .null: return Array("_\r\n".utf8)
        case .bigNumber(let text): return Array("(\(text)\r\n".utf8)
        case .string(let bytes): return Array("$\(bytes.count)\r\n".utf8) + bytes + [13, 10]
        case .array(let elements): return aggregate("*", elements.count, elements)
        case .set(let elements): return aggregate("~", elements.count, elements)
        case .map(let parts): return aggregate("%", parts.count / 2, parts)
        case .push(let elements): return aggregate(">", elements.count, elements)
        }
    }

    /// However the bytes are split, the values are the same.
    @Test(arguments: 1...20)
    func splits(seed: Int) throws {
        var random = SeededRandom(UInt64(seed))
        let values = (0..<50).map { _ in Self.value(&random) }
        let bytes = values.flatMap { Self.form($0) }
        #expect(try Self.parse(bytes) == values)
        for most in [1, 2, 7, 64, 1000] {
            #expect(try Self.parse(bytes, sizes: { Int.random(in: 1...most, using: &random) }) == values)
        }
    }

    /// Broken bytes are values or an error, the same for all splits, and never stop the process.
    @Test(arguments: 1...40)
    func mutations(seed: Int) throws {
        var random = SeededRandom(UInt64(seed) &+ 1000)
        let alphabet = Array("+-:$*%~>|,#(_=!0123456789\r\n?tf. \u{0}".utf8)
        for _ in 0..<100 {
            var bytes = (0..<3).flatMap { _ in Self.form(Self.value(&random)) }
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = alphabet.randomElement(using: &random) ?? 0
                case 1: bytes.insert(alphabet.randomElement(using: &random) ?? 0, at: place)
                default: bytes.removeSubrange(place..<min(bytes.count, place + 3))
                }
                if bytes.isEmpty { bytes = [43] }
            }
            let whole = Result { () throws(RESPError) in try Self.parse(bytes) }
            let split = Result { () throws(RESPError) in
                try Self.parse(bytes, sizes: { Int.random(in: 1...5, using: &random) })
            }
            switch (whole, split) {
            case (.success(let values), .success(let others)): #expect(values == others)
            case (.failure(let error), .failure(let other)): #expect(error == other)
            default: Issue.record("\(whole) and \(split)")
            }
        }
    }

    /// A megabyte in single bytes: with a cost that grows with the square, this would take hours.
    @Test(.timeLimit(.minutes(2))) func linearCost() throws {
        var limits = RESPParser.Limits()
        (limits.line, limits.elements) = (1 << 20, 1 << 20)
        let count = 300_000
        let line = Array("+\(String(repeating: "a", count: count))\r\n".utf8)
        #expect(try Self.parse(line, limits: limits, sizes: { 1 }).count == 1)
        let string = Array("$\(count)\r\n\(String(repeating: "a", count: count))\r\n".utf8)
        #expect(try Self.parse(string, limits: limits, sizes: { 1 }).count == 1)
        let array = Array("*\(count)\r\n\(String(repeating: ":1\r\n", count: count))".utf8)
        #expect(try Self.parse(array, limits: limits, sizes: { 1 }).count == 1)
        let many = Array(String(repeating: ":1\r\n", count: count).utf8)
        #expect(try Self.parse(many, limits: limits).count == count)
        #expect(try Self.parse(many, limits: limits, sizes: { 3 }).count == count)
    }

    /// Commands have the form of arrays of strings.
    @Test func commands() throws {
        let bytes = RedisCommand("SET", "a", bytes: [[0, 13, 10, 255]]).bytes
        #expect(Array(bytes.prefix(21)) == Array("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$".utf8))
        #expect(
            try Self.parse(bytes)
                == [
                    .array([.string(Array("SET".utf8)), .string(Array("a".utf8)), .string([0, 13, 10, 255])])
                ])
        for size in [0, 1, 9, 10, 11, 99, 100, 999, 1000, 12_345] {
            let text = String(repeating: "é", count: size / 2) + String(repeating: "k", count: size % 2)
            var bytes: [UInt8] = []
            RedisCommand.appendGet(of: text, below: Array("ab".utf8), to: &bytes)
            #expect(bytes == RedisCommand("GET", "ab" + text).bytes)
            #expect(
                try Self.parse(bytes)
                    == [.array([.string(Array("GET".utf8)), .string(Array(("ab" + text).utf8))])])
        }
    }
}
#endif
