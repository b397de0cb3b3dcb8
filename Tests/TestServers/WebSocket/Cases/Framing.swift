extension AutobahnCase {
    /// Section 1: payloads around the boundaries of the three forms of the length.
    static let framing = framing("1.1", .text, "*") + framing("1.2", .binary, [0xFE])

    private static func framing(_ section: String, _ opcode: Opcode, _ pattern: Octets) -> [AutobahnCase] {
        let kinds: [(length: Int, chop: Int?, limit: Duration)] = [
            (0, nil, .seconds(1)),
            (125, nil, .seconds(1)),
            (126, nil, .seconds(1)),
            (127, nil, .seconds(1)),
            (128, nil, .seconds(1)),
            (65_535, nil, .seconds(10)),
            (65_536, nil, .seconds(10)),
            (65_536, 997, .seconds(10)),
        ]
        return kinds.enumerated().map { index, kind in
            let payload = Octets(repeating: pattern, count: kind.length)
            let name = opcode == .text ? "text" : "binary"
            let chops = kind.chop.map { ", in writes of \($0) octets" } ?? ""
            return .answers(
                "\(section).\(index + 1)", "A \(name) message of \(kind.length) octets\(chops)",
                [.frame(opcode, payload, kind.chop.map { .chopped($0) } ?? .joined)],
                with: [opcode == .text ? .text(payload) : .binary(payload)],
                otherwise: .fail(after: kind.limit))
        }
    }
}
