import Testing

@testable import RxCurl

/// The value of `Alt-Svc` (RFC 7838 §3).
@Suite struct AlternativeServiceFieldTests {
    private static func h3(_ port: Int, host: String = "", age: Int = 86_400, persists: Bool = false)
        -> AlternativeService
    {
        AlternativeService(protocolID: "h3", host: host, port: port, maxAge: age, persists: persists)
    }

    /// Valid values.
    @Test(
        arguments: [
            (#"h3=":443""#, [h3(443)]),
            (#"h3=":443"; ma=2592000; persist=1"#, [h3(443, age: 2_592_000, persists: true)]),
            (#"h3=":443";ma=60;persist=2"#, [h3(443, age: 60)]),
            (#"h3="alt.example.com:8443", h3=":443""#, [h3(8443, host: "alt.example.com"), h3(443)]),
            (#"h3="Alt.Example.COM:8443""#, [h3(8443, host: "alt.example.com")]),
            (#"h3="[::1]:443""#, [h3(443, host: "::1")]),
            (#" , h3=":443" ,, h3=":444" , "#, [h3(443), h3(444)]),
            (#"h3=":443"; x="a, clear; \"ma=1\"" ; ma="7""#, [h3(443, age: 7)]),
            (#"h3=":443"; ma=99999999999999999999999"#, [h3(443, age: 365 * 24 * 3600)]),
            (#"h3=":443"; ma=0"#, [h3(443, age: 0)]),
            // Without effect, and skipped.
            (#"h3=":443"; ma=-1, h3=":444""#, [h3(444)]),
            (#"h3=":0", h3=":65536", h3=":", h3="", h3="a b:1", h3=":443""#, [h3(443)]),
            // Malformed from here on.
            (#"h3=":443", h3=:444, h3=":445""#, [h3(443)]),
            (#"h3=":443", h3=":444"; ma, h3=":445""#, [h3(443)]),
            (#"h3=":443" h3=":444""#, [h3(443)]),
            (#"h3=":443", h3=":444"#, [h3(443)]),
            (#"h3=":443\"#, []), ("h3", []), ("Clear", []), ("", []), ("clear=1", []),
        ] as [(String, [AlternativeService])])
    func services(value: String, expected: [AlternativeService]) {
        #expect(AlternativeServiceField(value.utf8) == .services(expected))
    }

    @Test(arguments: ["clear", " clear\t", #"h3=":443", clear"#])
    func clear(value: String) { #expect(AlternativeServiceField(value.utf8) == .clear) }

    @Test func otherProtocolsAreKept() {
        #expect(
            AlternativeServiceField(#"h2="a.test:443", w%3D=":1""#.utf8)
                == .services([
                    AlternativeService(protocolID: "h2", host: "a.test", port: 443),
                    AlternativeService(protocolID: "w%3D", host: "", port: 1),
                ]))
    }

    @Test func noMoreThanALimitIsLookedAt() {
        let value = (1...1000).map { #"h3=":\#($0)""# }.joined(separator: ",")
        #expect(AlternativeServiceField(value.utf8) == .services((1...16).map { Self.h3($0) }))
    }
}
