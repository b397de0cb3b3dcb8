import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

@testable import RxClient

/// Numbers keep their digits in every format, whether or not parameters are rewritten or signed.
@Suite struct ParameterDigitsTests {
    private struct Amounts: Encodable, Sendable {
        var amount = Decimal(string: "1234567890123.123456789")!
        var wei = Decimal(string: "20000000000000000000")!
        var tiny = Decimal(string: "-0.00000000000000000000000000000000000001")!
        var rate = 0.1
        var avogadro = 6.02214076e23
        var least = Int64.min
        var most = UInt64.max
        var wide = Int128.max
    }

    private static let digits = [
        "amount": "1234567890123.123456789", "wei": "20000000000000000000",
        "tiny": "-0.00000000000000000000000000000000000001", "rate": "0.1", "avogadro": "6.02214076e+23",
        "least": "-9223372036854775808", "most": "18446744073709551615",
        "wide": "170141183460469231731687303715884105727",
    ]

    private static let values: Parameters.Values = [
        "amount": Amounts().amount, "wei": Amounts().wei, "tiny": Amounts().tiny, "rate": 0.1,
        "avogadro": 6.02214076e23, "least": Int64.min, "most": UInt64.max, "wide": Int128.max,
    ]

    private let clock = VirtualScheduler()

    /// The request that a client with these settings sends.
    private func sent(
        _ parameters: Parameters, _ configure: (inout ClientConfiguration) -> Void
    ) throws -> Request {
        let transport = ScriptedTransport(on: clock) { _ in .status(.ok) }
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configure(&configuration)
        let client = Client(configuration: configuration, transport: transport)
        let recorder = Recorder(client.post("/x", parameters), on: clock)
        try clock.run()
        #expect(recorder.failure == nil)
        return try #require(transport.requests.first)
    }

    private func text(_ request: Request) throws -> String {
        guard case .bytes(let bytes) = request.body else { return try #require(request.url.query()) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The names and values of a query or form, unescaped.
    private func pairs(_ text: String) -> [String: String] {
        let pairs = text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1).map { String($0).percentDecoded }
            return (parts[0], parts[1])
        }
        return Dictionary(pairs) { $1 }
    }

    /// The members of a JSON object of numbers and texts, as they are written.
    private func members(_ text: String) -> [String: String] {
        let pairs = text.dropFirst().dropLast().split(separator: ",").map { pair in
            let parts = pair.split(separator: ":", maxSplits: 1)
            return (String(parts[0].dropFirst().dropLast()), String(parts[1]))
        }
        return Dictionary(pairs) { $1 }
    }

    static let settings: [(String, @Sendable (inout ClientConfiguration) -> Void)] = [
        ("unchanged", { _ in }),
        ("rewritten", { $0.rewriteParameters = { $0.adding(["v": "1"]) } }),
        ("signed", { $0.signature = .parameters { _ in ["v": "1"] } }),
        (
            "rewritten and signed",
            {
                $0.rewriteParameters = { $0.adding(["v": "1"]) }
                $0.signature = .parameters { _ in ["w": "1"] }
            }
        ),
    ]

    /// In a query and in a form, as members of a model and of a dictionary.
    @Test(arguments: settings)
    func queriesAndForms(
        _ name: String, _ configure: @escaping @Sendable (inout ClientConfiguration) -> Void
    ) throws {
        for parameters: Parameters in [
            .query(Amounts()), .query(Self.values), .form(Amounts()), .form(Self.values),
        ] {
            let sent = pairs(try text(sent(parameters, configure)))
            for (member, digits) in Self.digits { #expect(sent[member] == digits, "\(parameters)") }
        }
    }

    /// In a JSON body, as members of a model and of a dictionary.
    @Test(arguments: settings)
    func bodies(_ name: String, _ configure: @escaping @Sendable (inout ClientConfiguration) -> Void) throws {
        for parameters: Parameters in [.json(Amounts()), .json(Self.values)] {
            let sent = members(try text(sent(parameters, configure)))
            for (member, digits) in Self.digits { #expect(sent[member] == digits, "\(parameters)") }
        }
    }

    /// In the content to sign, for every format.
    @Test func signatures() throws {
        for parameters: Parameters in [
            .query(Amounts()), .form(Amounts()), .json(Amounts()), .json(Self.values),
        ] {
            let signed = Mutex<[String: String]>([:])
            _ = try sent(parameters) {
                $0.rewriteParameters = { $0.adding(["v": "1"]) }
                $0.signature = .headers { content in
                    let pairs = content.parameters.map { ($0.name, $0.value) }
                    signed.withLock { $0 = Dictionary(pairs) { $1 } }
                    return ["X-Sign": "s"]
                }
            }
            let found = signed.withLock { $0 }
            for (member, digits) in Self.digits { #expect(found[member] == digits, "\(parameters)") }
        }
    }

    /// In lists and nested objects.
    @Test func nested() throws {
        struct Order: Encodable, Sendable {
            var lines = [Amounts(), Amounts()]
        }
        let request = try sent(.form(Order())) { $0.rewriteParameters = { $0.adding(["v": "1"]) } }
        let sent = try text(request).split(separator: "&").map { String($0).percentDecoded }
        #expect(sent.filter { $0 == "lines[amount]=1234567890123.123456789" }.count == 2)
    }
}
