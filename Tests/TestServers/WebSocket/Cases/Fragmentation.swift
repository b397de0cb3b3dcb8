extension AutobahnCase {
    /// Section 5: messages in fragments, with control frames between them.
    static let fragmentation: [AutobahnCase] =
        [
            .violates(
                "5.1", "A ping in two fragments",
                [.frame(.ping, "fragment1", isFinal: false), .frame(.continuation, "fragment2")]),
            .violates(
                "5.2", "A pong in two fragments",
                [.frame(.pong, "fragment1", isFinal: false), .frame(.continuation, "fragment2")]),
            twoFragments("5.3", "A text in two fragments", .joined),
            twoFragments("5.4", "A text in two fragments, in one write each", .alone),
            twoFragments("5.5", "A text in two fragments, in writes of one octet", .chopped(1)),
            aroundPing("5.6", "A text in two fragments around a ping", .joined),
            aroundPing("5.7", "A text in two fragments around a ping, in one write each", .alone),
            aroundPing("5.8", "A text in two fragments around a ping, in writes of one octet", .chopped(1)),
        ] + continuationsOfNothing + [
            .violates(
                "5.15", "A text in two fragments, a continuation of nothing, a text",
                [
                    .frame(.text, "fragment1", isFinal: false), .frame(.continuation, "fragment2"),
                    .frame(.continuation, "fragment3", isFinal: false), .frame(.text, "fragment4"),
                ], after: [.text("fragment1fragment2")], nonStrict: []),
            twice(
                "5.16", "Twice: a continuation of nothing that is not final, a text in two fragments", false),
            twice("5.17", "Twice: a final continuation of nothing, a text in two fragments", true),
            .violates(
                "5.18", "A text in two fragments, both with the opcode of text",
                [.frame(.text, "fragment1", isFinal: false), .frame(.text, "fragment2")]),
            inFive("5.19", "A text in five fragments with two pings and a wait between them", .joined),
            inFive("5.20", "The same as 5.19, in one write each", .alone),
        ]

    private static func twoFragments(
        _ number: String, _ description: String, _ writing: Step.Writing
    ) -> AutobahnCase {
        .answers(
            number, description,
            [
                .frame(.text, "fragment1", isFinal: false, writing),
                .frame(.continuation, "fragment2", writing),
            ], with: [.text("fragment1fragment2")], otherwise: .close(after: .seconds(1)))
    }

    private static func aroundPing(
        _ number: String, _ description: String, _ writing: Step.Writing
    ) -> AutobahnCase {
        .answers(
            number, description,
            [
                .frame(.text, "fragment1", isFinal: false, writing), .frame(.ping, "ping payload", writing),
                .frame(.continuation, "fragment2", writing),
            ], with: [.pong("ping payload"), .text("fragment1fragment2")],
            otherwise: .close(after: .seconds(1)))
    }

    /// 5.9 to 5.14.
    private static let continuationsOfNothing: [AutobahnCase] = [true, false].flatMap { isFinal in
        [
            (Step.Writing.joined, "one write"), (.alone, "one write each"),
            (.chopped(1), "writes of one octet"),
        ].enumerated().map { index, way in
            .violates(
                "5.\((isFinal ? 9 : 12) + index)",
                "A \(isFinal ? "final" : "non-final") continuation of nothing, a text, in \(way.1)",
                [
                    .frame(.continuation, "non-continuation payload", isFinal: isFinal, way.0),
                    .frame(.text, hello, way.0),
                ])
        }
    }

    private static func twice(_ number: String, _ description: String, _ isFinal: Bool) -> AutobahnCase {
        let once: [Step] = [
            .frame(.continuation, "fragment1", isFinal: isFinal), .frame(.text, "fragment2", isFinal: false),
            .frame(.continuation, "fragment3"),
        ]
        return .violates(number, description, once + once)
    }

    private static func inFive(
        _ number: String, _ description: String, _ writing: Step.Writing
    ) -> AutobahnCase {
        .answers(
            number, description,
            [
                .frame(.text, "fragment1", isFinal: false, writing),
                .frame(.continuation, "fragment2", isFinal: false, writing),
                .frame(.ping, "pongme 1!", writing),
                .wait(.seconds(1), name: nil),
                .frame(.continuation, "fragment3", isFinal: false, writing),
                .frame(.continuation, "fragment4", isFinal: false, writing),
                .frame(.ping, "pongme 2!", writing),
                .frame(.continuation, "fragment5", writing),
            ],
            with: [
                .pong("pongme 1!"), .pong("pongme 2!"),
                .text("fragment1fragment2fragment3fragment4fragment5"),
            ], otherwise: .close(after: .seconds(1)))
    }
}
