extension AutobahnCase {
    /// Section 9: large messages, small fragments, small writes, and many round trips.
    static let limits: [AutobahnCase] =
        large("9.1", .text, mixed) + large("9.2", .binary, octets)
        + fragmented("9.3", .text, "*") + fragmented("9.4", .binary, [0xFE])
        + chopped("9.5", .text, mixed) + chopped("9.6", .binary, octets)
        + roundTrips("9.7", .text, "*") + roundTrips("9.8", .binary, [0xFE])

    /// Section 10: a message that is cut into one text frame and 50 continuations.
    static let automaticFragments: [AutobahnCase] = {
        let payload = Octets(repeating: "*", count: 65_536)
        return [
            .answers(
                "10.1.1", "A text of 65,536 octets in fragments of 1,300",
                Step.fragments(.text, payload, size: 1300), with: [.text(payload)],
                otherwise: .fail(after: .seconds(10)))
        ]
    }()

    private static let mixed: Octets = "BAsd7&jh23"
    private static let octets = Octets(hex: "00FE23FAF0")

    private static func name(_ opcode: Opcode) -> String { opcode == .text ? "text" : "binary" }

    /// 9.1 and 9.2: messages from 64 KiB to 16 MiB.
    private static func large(_ section: String, _ opcode: Opcode, _ pattern: Octets) -> [AutobahnCase] {
        // The limits differ between text and binary, as they do in the suite.
        let limits: [Duration] =
            opcode == .text
            ? [10, 10, 100, 100, 100, 100].map { .seconds($0) }
            : [10, 10, 10, 10, 100, 100].map { .seconds($0) }
        return zip([64, 256, 1024, 4096, 8192, 16_384], limits).enumerated().map { index, kind in
            .exchanges(
                "\(section).\(index + 1)", "A \(name(opcode)) message of \(kind.0) KiB",
                Exchange(count: 1, opcode: opcode, limit: kind.1) { _ in
                    Octets(repeating: pattern, count: kind.0 << 10)
                })
        }
    }

    /// 9.3 and 9.4: messages of 4 MiB in fragments from 64 octets to 4 MiB.
    private static func fragmented(_ section: String, _ opcode: Opcode, _ pattern: Octets) -> [AutobahnCase] {
        (0..<9).map { index in
            let size = 64 << (2 * index)
            // The suite's binary payload is 0xFE in the first case only.
            let pattern: Octets = index == 0 ? pattern : "*"
            return .exchanges(
                "\(section).\(index + 1)",
                "A \(name(opcode)) message of 4 MiB in fragments of \(size) octets",
                Exchange(count: 1, opcode: opcode, division: .fragments(size), limit: .seconds(100)) { _ in
                    Octets(repeating: pattern, count: 4 << 20)
                })
        }
    }

    /// 9.5 and 9.6: messages of 1 MiB in writes from 64 to 2,048 octets.
    private static func chopped(_ section: String, _ opcode: Opcode, _ pattern: Octets) -> [AutobahnCase] {
        (0..<6).map { index in
            let size = 64 << index
            return .exchanges(
                "\(section).\(index + 1)", "A \(name(opcode)) message of 1 MiB in writes of \(size) octets",
                Exchange(count: 1, opcode: opcode, division: .chops(size), limit: .seconds(1000)) { _ in
                    Octets(repeating: pattern, count: 1 << 20)
                })
        }
    }

    /// 9.7 and 9.8: 1,000 messages of the same size.
    private static func roundTrips(_ section: String, _ opcode: Opcode, _ pattern: Octets) -> [AutobahnCase] {
        [(0, 60), (16, 60), (64, 60), (256, 120), (1024, 240), (4096, 480)].enumerated().map { index, kind in
            .exchanges(
                "\(section).\(index + 1)",
                "1,000 \(name(opcode)) messages of \(kind.0) octets, one after the other",
                Exchange(count: 1000, opcode: opcode, limit: .seconds(kind.1)) { _ in
                    Octets(repeating: pattern, count: kind.0)
                })
        }
    }
}
