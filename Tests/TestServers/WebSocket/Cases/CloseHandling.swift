extension AutobahnCase {
    /// Section 7: the closing handshake, begun by the server.
    static let closeHandling: [AutobahnCase] =
        [
            judgedByCode(
                .answers(
                    "7.1.1", "A text; the server closes after the echo", [.frame(.text, "Hello World!")],
                    with: [.text("Hello World!")])),
            closes("7.1.2", "Two closes", [.close(1000), .frame(.close)]),
            closes("7.1.3", "A close, then a ping, which has no answer", [.close(1000), .frame(.ping)]),
            closes(
                "7.1.4", "A close, then a text, which is ignored",
                [.close(1000), .frame(.text, "Hello World!")]),
            closes(
                "7.1.5", "A close between the two fragments of a text",
                [
                    .frame(.text, "fragment1", isFinal: false), .close(1000),
                    .frame(.continuation, "fragment2"),
                ]),
            afterLargeText,
            closes("7.3.1", "A close without payload", [.close([])]),
            closes("7.3.2", "A close of one octet", [.close("a")], codes: [1002], isClean: false),
            closes("7.3.3", "A close with a code", [.close(1000)]),
            closes("7.3.4", "A close with a code and a reason", [.close(1000, "Hello World!")]),
            closes(
                "7.3.5", "A close with the longest reason, 123 octets",
                [.close(1000, Octets(repeating: "*", count: 123))]),
            closes(
                "7.3.6", "A close with a reason of 124 octets, too long for a control frame",
                [.close(1000, Octets(repeating: "*", count: 124))], codes: [1002], isClean: false),
            closes(
                "7.5.1", "A close with a reason that is not UTF-8",
                [.close(1000, greek + Octets(hex: "EDA080 656469746564"))], codes: [1002, 1007],
                isClean: false),
        ] + validCodes + invalidCodes + undefinedCodes

    /// 7.7.
    private static let validCodes = codes(
        "7.7", [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999]
    ) { number, code in
        closes(number, "A close with the valid code \(code)", [.close(code)], codes: [1000, code])
    }

    /// 7.9.
    private static let invalidCodes = codes(
        "7.9", [0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999]
    ) { number, code in
        closes(
            number, "A close with the invalid code \(code)", [.close(code)], codes: [1002], isClean: false)
    }

    /// 7.13.
    private static let undefinedCodes = codes("7.13", [5000, 65_535]) { number, code in
        var tested = closes(
            number, "A close with the code \(code), which RFC 6455 does not define", [.close(code)],
            codes: [1000, code, 1002], isClean: false)
        tested.isInformational = true
        return tested
    }

    /// 7.1.6. The close may be read before the echo of the large text has been written. The suite expects
    /// only the second text, and judges nothing.
    private static let afterLargeText = {
        var tested = AutobahnCase(
            number: "7.1.6", description: "A text of 256 KiB, a text, a close and a ping, all in one write",
            play: .script(
                Script(
                    steps: [
                        .frame(.text, Octets(repeating: "BAsd7&jh23", count: 256 << 10)),
                        .frame(.text, "Hello World!"), .close(1000), .frame(.ping),
                    ], limit: .fail(after: .seconds(1)), expected: [.text("Hello World!")], nonStrict: [],
                    closesWhenMet: false)),
            close: CloseExpectation(by: .server, codes: [1000], isClean: true))
        tested.isInformational = true
        return tested
    }()

    private static func codes(
        _ section: String, _ codes: [UInt16], _ make: (_ number: String, _ code: UInt16) -> AutobahnCase
    ) -> [AutobahnCase] {
        codes.enumerated().map { make("\(section).\($0 + 1)", $1) }
    }

    /// A case in which the client answers a close and nothing else.
    private static func closes(
        _ number: String, _ description: String, _ steps: [Step], codes: [UInt16] = [1000],
        isClean: Bool = true
    ) -> AutobahnCase {
        judgedByCode(
            AutobahnCase(
                number: number, description: description,
                play: .script(
                    Script(steps: steps, limit: .fail(after: .seconds(1)), expected: [], closesWhenMet: false)
                ),
                close: CloseExpectation(by: .server, codes: codes, isClean: isClean)))
    }

    private static func judgedByCode(_ tested: AutobahnCase) -> AutobahnCase {
        var tested = tested
        tested.isFailedByWrongCode = true
        return tested
    }
}
