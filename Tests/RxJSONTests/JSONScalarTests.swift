import FoundationEssentials
import RxTesting
import Testing

@testable import RxJSON

/// Scalars are read as `JSONDecoder` reads them.
@Suite struct JSONScalarTests {
    private func check<each Value: Decodable & Equatable>(
        _ text: String, as _: repeat (each Value).Type, at location: SourceLocation = #_sourceLocation
    ) {
        for document in [text, " [\(text)]", "{\"a\":\(text) }"] {
            func check<T: Decodable & Equatable>(_: T.Type) {
                #expect(
                    JSONComparison(T.self, document).agrees, "\(document) as \(T.self)",
                    sourceLocation: location)
                #expect(
                    JSONComparison([T].self, document).agrees, "\(document) as [\(T.self)]",
                    sourceLocation: location)
                #expect(
                    JSONComparison(Array<T?>.self, document).agrees, "\(document) as [\(T.self)?]",
                    sourceLocation: location)
                #expect(
                    JSONComparison([String: T].self, document).agrees, "\(document) as [String: \(T.self)]",
                    sourceLocation: location)
                #expect(
                    JSONComparison([Caught<T>].self, document).agrees, "\(document) as [Caught<\(T.self)>]",
                    sourceLocation: location)
            }
            repeat check((each Value).self)
        }
    }

    private func checkNumber(_ text: String, at location: SourceLocation = #_sourceLocation) {
        check(
            text, as: Int.self, Int8.self, Int16.self, Int32.self, Int64.self, Int128.self, at: location)
        check(
            text, as: UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self, UInt128.self, at: location
        )
        check(text, as: Float.self, Double.self, Bits.self, Decimal.self, Date.self, at: location)
    }

    /// Numbers, to the limits of every width, in the standard's format and in others.
    @Test(arguments: [
        "0", "-0", "1", "-1", "7.0", "-7.0", "1.0", "1e0", "1E+2", "1e-2", "100e-2", "1.5", "-1.5", "0.1",
        "0.3",
        "127", "128", "-128", "-129", "255", "256", "32767", "32768", "-32769", "65535", "65536",
        "2147483647",
        "2147483648", "-2147483648", "-2147483649", "4294967295", "4294967296", "9223372036854775807",
        "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
        "18446744073709551616", "99999999999999999999", "100000000000000000000000",
        "170141183460469231731687303715884105727", "-170141183460469231731687303715884105728",
        "340282366920938463463374607431768211455", "340282366920938463463374607431768211456",
        "9007199254740991", "9007199254740992", "9007199254740993", "9007199254740993.0",
        "9007199254740992.5",
        "1e15", "1e16", "123e20", "9223372036854775807.0", "18446744073709551615.0", "1.0000000000000001",
        "0.30000000000000004", "123456789.12345678", "0e5", "0e-5", "0.0e1", "-0e0", "0e00", "0E+0",
        "1.7976931348623157e308", "1.7976931348623159e308",
        "1e308",
        "1e309", "1e400", "-1e400", "5e-324", "2e-324", "1e-400", "0e400", "0.0e-400", "-0.0",
        "2.2250738585072014e-308",
        "2.2250738585072011e-308", "3.4028235e38", "3.4028236e38", "1e39", "1e-45", "1e-46", "16777217",
        "16777216", "8388608.5", "8388609.5", "1e22", "1e23", "8.5e22", "12345678901234567890.5",
        "0.000000000000000000000000000000000001", "1234567890123456789012345678901234567890",
        "1.00000005960464477539", "1e10000000000", "1e-10000000000", "1e9223372036854775808",
        "00", "01", "-01", "-", "--1", "-a", "1.", ".5", "-.5", "1.e5", "1e", "1e+", "1e+-1", "1ee1",
        "1.2.3", "1-2",
        "1+2", "0x10", "0.5.5", "1e5.5", "01.5", "00.5", "+1", "1_000", "NaN", "Infinity", "-Infinity",
        "inf",
    ])
    func numbers(text: String) { checkNumber(text) }

    /// Random numbers.
    @Test(arguments: 1...2)
    func randomNumbers(seed: UInt64) {
        var random = SeededRandom(seed)
        for _ in 0..<200 {
            let double = Double(bitPattern: .random(in: 0...UInt64.max, using: &random))
            guard double.isFinite else { continue }
            for text in [
                "\(double)", "\(Float(double))", "\(Int64.random(in: .min ... .max, using: &random))",
            ] {
                for document in [text, "[\(text)]"] {
                    #expect(JSONComparison(Bits.self, document).agrees, "\(text)")
                    #expect(JSONComparison([Float].self, document).agrees, "\(text)")
                    #expect(JSONComparison([Int64].self, document).agrees, "\(text)")
                }
            }
            let digits = (0..<Int.random(in: 1...24, using: &random)).map { _ in
                "0123456789..eE-+".randomElement(using: &random) ?? "0"
            }
            let odd = "[\(String(digits))]"
            #expect(JSONComparison([Bits].self, odd).agrees, "\(odd)")
            #expect(JSONComparison([Int].self, odd).agrees, "\(odd)")
            #expect(JSONComparison([Guess].self, odd).agrees, "\(odd)")
        }
    }

    /// Common numbers take the quick way.
    @Test(arguments: ["0", "-0", "7.0", "1e3", "-12.75", "9007199254740991", "0.30000000000000004", "5e-324"])
    func quickNumbers(text: String) {
        #expect(JSONComparison(Double.self, text).isQuick)
        #expect(JSONComparison([Double].self, "[\(text)]").isQuick)
        #expect(JSONComparison([Guess].self, "[\(text)]").isQuick)
    }

    private static let strings: [String] = [
        #""""#, #""a""#, #""tea, green""#, #""\"\\\/\b\f\n\r\t""#, #""\u0041\u00e9\u4e2d""#,
        #""\uD83C\uDF75""#,
        #""\ud83c\udf75 tea""#, #""\uD83C""#, #""\uDF75""#, #""\uD83Cx""#, #""\uD83C\n""#, #""\uD83C\u0041""#,
        #""\uD83C\uD83C""#, #""\u0000""#, #""\u00G0""#, #""\u00""#, #""\u00"0""#, #""\u+041""#, #""\x""#,
        #""\""#, #""\"#, #"""#,
        #""\\\""#, "\"é中🍵\"", "\"tab\there\"", "\"line\nbreak\"", "\"\u{7F}\"", "\"\u{2028}\"",
        "\"e\u{301}\"",
        "\"\u{1F}\\n\"", #""sixteen bytes!!!""#, #""fifteen bytes..""#, #""a\u00e9é""#,
        #""seventeen bytes\n""#,
        #""12345678""#, #""1234567\"""#, #""12345678\"""#, #""12345678é""#, #""1234567é90123456""#, "'a'",
        "a",
        "true", "false", "null", "tru", "truex", "True", "nul", "nulll", "fals", "t", "n", "f",
    ]

    /// Strings, Bools and null.
    @Test(arguments: strings)
    func scalars(text: String) {
        check(
            text, as: String.self, Bool.self, Int.self, Double.self, Bits.self, Guess.self, URL.self,
            Data.self)
        check(text, as: Optional<String>.self, Date.self, Decimal.self, Never?.self)
    }

    /// Strings of invalid UTF-8, alone, after escapes and as keys.
    @Test func invalidText() {
        let parts: [[UInt8]] = [
            [0xFF], [0xC3], [0xC3, 0x28], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF0, 0x9F, 0x8D], [0xC0, 0x80],
            [0xF4, 0x90, 0x80, 0x80], [0xC3, 0xA9], [0x80], [0xE2, 0x82, 0xAC], [0xFE], [0xEF, 0xBB, 0xBF],
            [0],
        ]
        for part in parts {
            for (before, behind) in [
                ("\"", "\""), ("\"abc", "def\""), ("\"\\n", "\\u00e9\""), ("", ""), ("\"\\", "\""),
            ] {
                let literal = Array(before.utf8) + part + Array(behind.utf8)
                #expect(JSONComparison(String.self, literal).agrees, "\(literal)")
                let list = Array("[ ".utf8) + literal + Array("]".utf8)
                #expect(JSONComparison([String].self, list).agrees, "\(list)")
                #expect(JSONComparison([Caught<String>].self, list).agrees, "\(list)")
                #expect(JSONComparison([Anything].self, list).agrees, "\(list)")
                let object = Array("{ \"a\":1,".utf8) + literal + Array(":2}".utf8)
                #expect(JSONComparison([String: Int].self, object).agrees, "\(object)")
                #expect(JSONComparison(Shop.Person.self, object).agrees, "\(object)")
                #expect(JSONComparison(Anything.self, object).agrees, "\(object)")
            }
        }
    }

    private struct Wide: Decodable, Equatable {
        let text: String?, flag: Bool?, double: Double?, float: Float?, int: Int?, int8: Int8?, int16: Int16?
        let int32: Int32?, int64: Int64?, int128: Int128?, uint: UInt?, uint8: UInt8?, uint16: UInt16?
        let uint32: UInt32?, uint64: UInt64?, uint128: UInt128?, list: [Int]?
    }

    /// Optional members of every type: present, null, missing, and of another type.
    @Test func optionals() {
        let names = [
            "text", "flag", "double", "float", "int", "int8", "int16", "int32", "int64", "int128", "uint",
            "uint8",
            "uint16", "uint32", "uint64", "uint128", "list",
        ]
        for value in ["null", "1", "-1", "300", "1.5", "true", #""a""#, "[1]", "{}", "1e400"] {
            for name in names {
                let text = #"{"\#(name)":\#(value)}"#
                #expect(JSONComparison(Wide.self, text).agrees, "\(text)")
                #expect(JSONComparison([Caught<Wide>].self, "[\(text)]").agrees, "\(text)")
            }
        }
        let full = names.map { name in
            let value = ["text": #""a""#, "flag": "true", "list": "[]"][name] ?? "7"
            return #""\#(name)":\#(value)"#
        }
        let document = "{\(full.joined(separator: ","))}"
        #expect(JSONComparison(Wide.self, document).agrees)
        #expect(JSONComparison(Wide.self, document).isQuick)
    }
}
