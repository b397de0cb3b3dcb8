extension AutobahnCase {
    /// Section 4: reserved opcodes fail the connection.
    static let opcodes = reserved("4.1", from: 3) + reserved("4.2", from: 11)

    private static func reserved(_ section: String, from first: UInt8) -> [AutobahnCase] {
        let codes = (first...first + 4).map { Opcode(rawValue: $0) }
        func afterHello(_ place: Int, _ payload: Octets, _ writing: Step.Writing) -> AutobahnCase {
            let chops = writing == .joined ? "" : ", in writes of one octet"
            let name = payload == [] ? "an empty frame" : "a frame with payload"
            return .violates(
                "\(section).\(place)",
                "A text, \(name) of the reserved opcode \(codes[place - 1].rawValue), a ping\(chops)",
                [
                    .frame(.text, hello, writing), .frame(codes[place - 1], payload, writing),
                    .frame(.ping, [], writing),
                ], after: [.text(hello)], nonStrict: [])
        }
        return [
            .violates(
                "\(section).1", "An empty frame of the reserved opcode \(codes[0].rawValue)",
                [.frame(codes[0])]),
            .violates(
                "\(section).2", "A frame with payload of the reserved opcode \(codes[1].rawValue)",
                [.frame(codes[1], "reserved opcode payload")]),
            afterHello(3, [], .joined),
            afterHello(4, hello, .joined),
            afterHello(5, hello, .chopped(1)),
        ]
    }
}
