extension AutobahnCase {
    /// Section 3: reserved bits that no extension uses fail the connection.
    static let reservedBits: [AutobahnCase] = [
        .violates("3.1", "A text with RSV 1", [.frame(.text, hello, reserved: 1)]),
        afterHello("3.2", "A text, a text with RSV 2, a ping", reserved: 2, .joined),
        afterHello("3.3", "A text, a text with RSV 3, a ping, in one write each", reserved: 3, .alone),
        afterHello(
            "3.4", "A text, a text with RSV 4, a ping, in writes of one octet", reserved: 4, .chopped(1)),
        .violates(
            "3.5", "A binary message with RSV 5",
            [.frame(.binary, Octets(hex: "00FFFEFDFCFB00FF"), reserved: 5)]),
        // The suite's text says ping, but it sends a binary message.
        .violates("3.6", "A binary message with RSV 6", [.frame(.binary, hello, reserved: 6)]),
        .violates("3.7", "A close with RSV 7", [.frame(.close, reserved: 7)]),
    ]

    static let hello: Octets = "Hello, world!"

    private static func afterHello(
        _ number: String, _ description: String, reserved: UInt8, _ writing: Step.Writing
    ) -> AutobahnCase {
        .violates(
            number, description,
            [
                .frame(.text, hello, writing), .frame(.text, hello, reserved: reserved, writing),
                .frame(.ping, [], writing),
            ], after: [.text(hello)], nonStrict: [])
    }
}
