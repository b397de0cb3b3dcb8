extension AutobahnCase {
    /// Section 6: texts that are UTF-8, and texts that are not, which fail the connection with 1007.
    static let utf8: [AutobahnCase] = validTexts + invalidTexts + failFast + sequences

    /// 6.1 and 6.2.
    private static let validTexts: [AutobahnCase] = [
        valid("6.1.1", "An empty text", [.frame(.text)], ""),
        valid(
            "6.1.2", "Three empty fragments",
            [.frame(.text, isFinal: false), .frame(.continuation, isFinal: false), .frame(.continuation)],
            ""),
        valid(
            "6.1.3", "Three fragments, of which only the middle one has payload",
            [
                .frame(.text, isFinal: false), .frame(.continuation, "middle frame payload", isFinal: false),
                .frame(.continuation),
            ], "middle frame payload"),
        valid("6.2.1", "A valid text", [.frame(.text, greeting)], greeting),
        valid(
            "6.2.2", "A valid text in two fragments that end with a code point",
            [.frame(.text, "Hello-µ@ßöä", isFinal: false), .frame(.continuation, "üàá-UTF-8!!")], greeting),
        valid(
            "6.2.3", "A valid text in fragments of one octet", Step.fragments(.text, greeting, size: 1),
            greeting),
        valid(
            "6.2.4", "A Greek word in fragments of one octet", Step.fragments(.text, greek, size: 1), greek),
    ]

    private static func valid(
        _ number: String, _ description: String, _ steps: [Step], _ text: Octets
    ) -> AutobahnCase {
        .answers(number, description, steps, with: [.text(text)], otherwise: .close(after: .seconds(1)))
    }

    /// 6.3: a surrogate, so that the twelfth of twenty octets makes the text invalid.
    private static let invalidTexts: [AutobahnCase] = [
        .violates("6.3.1", "A text with a surrogate", [.frame(.text, surrogate)], code: 1007),
        .violates(
            "6.3.2", "A text with a surrogate, in fragments of one octet",
            Step.fragments(.text, surrogate, size: 1), code: 1007),
    ]

    /// 6.4: a code point beyond U+10FFFF. The connection should fail as soon as its second octet has come.
    private static let failFast: [AutobahnCase] = [
        inFrames("6.4.1", "Three frames with waits; the second frame makes the text invalid", at: 11, 15),
        inFrames("6.4.2", "The same as 6.4.1, but the second frame has only the invalid octet", at: 12, 13),
        inChops("6.4.3", "The same as 6.4.1, but one frame in three writes", at: 11, 15),
        inChops("6.4.4", "The same as 6.4.2, but one frame in three writes", at: 12, 13),
    ]

    private static func inFrames(
        _ number: String, _ description: String, at first: Int, _ second: Int
    ) -> AutobahnCase {
        late(
            number, description,
            [
                .frame(.text, beyond.prefix(first), isFinal: false), .wait(.seconds(1), name: "A"),
                .frame(.continuation, beyond.prefix(second).dropFirst(first), isFinal: false),
                .watch(.seconds(1), name: "B"), .frame(.continuation, beyond.dropFirst(second)),
            ])
    }

    private static func inChops(
        _ number: String, _ description: String, at first: Int, _ second: Int
    ) -> AutobahnCase {
        late(
            number, description,
            [
                .beginFrame(.text, length: beyond.count), .octets(beyond.prefix(first)),
                .wait(.seconds(1), name: "A"), .octets(beyond.prefix(second).dropFirst(first)),
                .watch(.seconds(1), name: "B"), .octets(beyond.dropFirst(second)), .frame(.continuation),
            ])
    }

    private static func late(_ number: String, _ description: String, _ steps: [Step]) -> AutobahnCase {
        .violates(
            number, description, steps, after: [.waited("A")], nonStrict: [.waited("A"), .waited("B")],
            code: 1007)
    }

    private static let greeting: Octets = "Hello-µ@ßöäüàá-UTF-8!!"
    private static let surrogate = greek + Octets(hex: "EDA080 656469746564")
    private static let beyond = greek + Octets(hex: "F4908080 656469746564")

    /// 6.5 to 6.23: each sequence is a text of its own.
    private static let sequences: [AutobahnCase] = UTF8Sequence.groups.enumerated().flatMap { index, group in
        group.sequences.enumerated().map { place, sequence in
            let number = "6.\(index + 5).\(place + 1)"
            let kind = sequence.isValid ? "valid" : "invalid"
            let description = "\(group.name): \(sequence.octets), \(kind)"
            let steps: [Step] = [.frame(.text, sequence.octets)]
            let limit = Script.Limit.fail(after: .milliseconds(500))
            return sequence.isValid
                ? .answers(number, description, steps, with: [.text(sequence.octets)], otherwise: limit)
                : .violates(number, description, steps, code: 1007, otherwise: limit)
        }
    }
}
