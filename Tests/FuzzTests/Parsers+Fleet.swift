#if Fleet
import RxHTTP
import RxTesting

@testable import RxFleet

extension Parser {
    /// Replies of Redis, and what the processes of a fleet read from a store. However replies arrive, the outcome is the
    /// same, and there is no more of it than is allowed.
    private static let fleetParsers: [Parser] = [
        Parser(
            "RESP3",
            [
                "+OK\r\n-ERR no\r\n:7\r\n$5\r\nhello\r\n_\r\n#t\r\n,1.5\r\n(12345678901234567890\r\n",
                "*2\r\n*1\r\n:1\r\n_\r\n%1\r\n+a\r\n$-1\r\n~2\r\n+a\r\n+b\r\n=7\r\ntxt:abc\r\n!3\r\nERR\r\n",
                ">3\r\n+message\r\n$1\r\na\r\n$3\r\nxyz\r\n>2\r\n+invalidate\r\n*1\r\n$1\r\na\r\n",
                "|1\r\n+ttl\r\n:3600\r\n*2\r\n:1\r\n|0\r\n:2\r\n", "*3\r\n*3\r\n*3\r\n*3\r\n*3\r\n:1\r\n",
                "$?\r\n;1\r\na\r\n;0\r\n", "$40\r\n", "*99\r\n:1\r\n", "\r\n",
            ]
        ) { bytes in
            let whole = try outcome(of: bytes, by: bytes.count)
            for size in [1, 2 + bytes.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFF } % 29] {
                let pieces = try outcome(of: bytes, by: size)
                try demand(pieces == whole, "\(pieces) by pieces of \(size), not \(whole)")
            }
            return whole
        },
        Parser("entries in Redis", ["0000000000000007content", "0000000000000000", "x", "-000000000000001a"])
        {
            bytes in
            let entry: SharedEntry
            do throws(NetworkError) { entry = try RedisKeys.entry(bytes[...]).get() } catch {
                return error.code.rawValue
            }
            try demand(entry.bytes.count == bytes.count - 16, "another content")
            return "\(entry.version)"
        },
        Parser(
            "addresses of Redis",
            [
                "redis://user:pass%20word@host:6379/3", "rediss://:secret@[::1]:6380",
                "unix:///run/r.sock?db=2",
                "unix://user:p@/run/redis.sock", "redis://host", "redis://a:b@c:99999", "redis://u@h/x",
                "http://h",
            ]
        ) { bytes in
            let address: RedisStore.Address
            do throws(NetworkError) {
                address = try RedisStore.Address(String(decoding: bytes, as: UTF8.self))
            } catch {
                // The text may have a password anywhere.
                return error.message
            }
            // Nothing of the login is in any description, which is that of the address without it.
            let plain = RedisStore.Address(address.route, database: address.database)
            for (text, expected) in [
                ("\(address)", "\(plain)"), (String(reflecting: address), String(reflecting: plain)),
            ] { try demand(text == expected, "\(text) shows the login") }
            try demand(Mirror(reflecting: address).children.isEmpty, "a mirror shows the login")
            // The description is an address of the same place, unless its path needs an escape.
            if case .host = address.route {
                let again = try? RedisStore.Address("\(address)")
                try demand(again == plain, "\(address) is not \(plain)")
            }
            return "\(address) \(address.user?.count ?? -1) \(address.password?.count ?? -1)"
        },
        Parser(
            "parts of the table of members",
            [
                #"{"version":1,"rows":[{"member":{"id":"a","name":"b","joined":0},"beats":3}]}"#,
                #"{"version":2,"rows":[]}"#, "[]", "{",
            ]
        ) { bytes in
            let table = MemberTable(bytes: bytes)
            try demand(table.rows.count <= bytes.count / 20, "\(table.rows.count) members")
            return "\(table.rows.map(\.member.id))"
        },
    ]

    private static let limits = RESPParser.Limits(line: 60, string: 50, elements: 30, total: 300, depth: 4)

    private static func outcome(of bytes: [UInt8], by size: Int) throws -> String {
        var parser = RESPParser(limits: limits)
        var values: [RESPValue] = []
        var end = "end"
        do throws(RESPError) {
            for start in stride(from: 0, to: bytes.count, by: max(1, size)) {
                parser.append(bytes[start..<min(start + size, bytes.count)])
                while let value = try parser.next() { values.append(value) }
            }
        } catch { end = error.description }
        try demand(values.count <= bytes.count / 3, "\(values.count) values of \(bytes.count) bytes")
        for value in values { try demand(cost(of: value, depth: 1) <= 30, "more values than allowed") }
        if end != "end" {
            parser.append(Array("+OK\r\n".utf8))
            let more = try? parser.next()
            try demand(more == nil, "a value after an error")
        }
        return "\(values) \(end)"
    }

    /// The number of values within a value.
    private static func cost(of value: RESPValue, depth: Int) throws -> Int {
        try demand(depth <= limits.depth + 1, "nested too deep")
        switch value {
        case .array(let elements), .set(let elements), .map(let elements), .push(let elements):
            return try elements.reduce(1) { try $0 + cost(of: $1, depth: depth + 1) }
        case .string(let bytes):
            try demand(bytes.count <= limits.string, "\(bytes.count) bytes")
            return 1
        default: return 1
        }
    }
}
#endif

extension Parser {
    /// The parsers of RxFleet; none without its trait.
    static var fleet: [Parser] {
        #if Fleet
        fleetParsers
        #else
        []
        #endif
    }
}
