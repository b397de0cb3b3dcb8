extension AutobahnCase {
    /// Section 2: pings are answered with their payload, pongs are ignored.
    static let pingPong: [AutobahnCase] = [
        pinged("2.1", "A ping without payload", []),
        pinged("2.2", "A ping with a short text", "Hello, world!"),
        pinged("2.3", "A ping with a short payload that is not UTF-8", Octets(hex: "00FFFEFDFCFB00FF")),
        pinged("2.4", "A ping of 125 octets", Octets(repeating: [0xFE], count: 125)),
        .violates(
            "2.5", "A ping of 126 octets, which is too long for a control frame",
            [.frame(.ping, Octets(repeating: [0xFE], count: 126))]),
        pinged(
            "2.6", "A ping of 125 octets, in writes of one octet", Octets(repeating: [0xFE], count: 125),
            .chopped(1), otherwise: .close(after: .seconds(2))),
        .answers(
            "2.7", "A pong without payload that nobody asked for, then a close",
            [.frame(.pong), .close(1000)],
            with: [], otherwise: .close(after: .seconds(1))),
        .answers(
            "2.8", "A pong with payload that nobody asked for, then a close",
            [.frame(.pong, "unsolicited pong payload"), .close(1000)], with: [],
            otherwise: .close(after: .seconds(1))),
        .answers(
            "2.9", "A pong that nobody asked for, then a ping",
            [.frame(.pong, "unsolicited pong payload"), .frame(.ping, "ping payload")],
            with: [.pong("ping payload")], otherwise: .close(after: .seconds(1))),
        tenPings("2.10", "Ten pings", .joined),
        tenPings("2.11", "Ten pings, in writes of one octet", .chopped(1)),
    ]

    private static func pinged(
        _ number: String, _ description: String, _ payload: Octets, _ writing: Step.Writing = .joined,
        otherwise limit: Script.Limit = .close(after: .seconds(1))
    ) -> AutobahnCase {
        .answers(
            number, description, [.frame(.ping, payload, writing)], with: [.pong(payload)], otherwise: limit)
    }

    private static func tenPings(
        _ number: String, _ description: String, _ writing: Step.Writing
    ) -> AutobahnCase {
        let payloads = (0..<10).map { Octets(Array("payload-\($0)".utf8)) }
        return .answers(
            number, description, payloads.map { .frame(.ping, $0, writing) },
            with: payloads.map { .pong($0) },
            otherwise: .close(after: .seconds(3)))
    }
}
