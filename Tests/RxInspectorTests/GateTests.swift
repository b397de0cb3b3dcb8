#if Inspector
import Testing

@testable import RxInspector

/// Which requests the server answers.
@Suite struct GateTests {
    private let gate = Gate(token: "secret")

    @Test(
        arguments: [
            ("/secret/", .open("")), ("/secret/json/list", .open("json/list")), ("/secret", .unknown),
            ("/json/list", .withoutToken("json/list")), ("/secre/", .withoutToken("secre/")),
            ("/", .withoutToken("")), ("/secrets/", .withoutToken("secrets/")), ("", .unknown),
            ("secret/", .unknown),
        ] as [(String, Gate.Verdict)])
    func onlyTheTokenOpens(path: String, verdict: Gate.Verdict) {
        #expect(gate.verdict(path: path, host: "127.0.0.1:9", origin: nil) == verdict)
    }

    @Test(arguments: [
        ("127.0.0.1:9229", true), ("localhost:1", true), ("LOCALHOST", true), ("[::1]:80", true),
        ("127.0.0.1", true), ("evil.test:9229", false), ("127.0.0.1.evil.test", false),
        ("localhost.evil.test:9229", false), ("127.0.0.1:9229.evil.test", false), ("127.0.0.1:", false),
        ("localhost:٣", false), ("", false), ("127.0.0.1:9@evil.test", false),
    ])
    func onlyNamesOfThisMachine(host: String, isRight: Bool) {
        let verdict = gate.verdict(path: "/secret/", host: host, origin: nil)
        #expect(verdict == (isRight ? .open("") : .forbidden))
    }

    @Test func aRequestWithoutAHostIsRefused() {
        #expect(gate.verdict(path: "/secret/", host: nil, origin: nil) == .forbidden)
    }

    @Test(arguments: [
        ("devtools://devtools", true), ("http://127.0.0.1:9", true), ("http://127.0.0.1:10", false),
        ("https://127.0.0.1:9", false), ("http://evil.test", false), ("null", false), ("", false),
        ("devtools://devtools.evil.test", false), ("http://localhost:9", false),
    ])
    func onlyTheToolsAndItsOwnPages(origin: String, isRight: Bool) {
        let verdict = gate.verdict(path: "/secret/", host: "127.0.0.1:9", origin: origin)
        #expect(verdict == (isRight ? .open("") : .forbidden))
    }
}
#endif
