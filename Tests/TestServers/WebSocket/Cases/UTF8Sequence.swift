/// A sequence of octets of Markus Kuhn's decoder test
/// (https://www.cl.cam.ac.uk/~mgk25/ucs/examples/UTF-8-test.txt) with the suite's additions.
struct UTF8Sequence: Sendable {
    let octets: Octets
    let isValid: Bool

    /// Sequences under one heading, which is a subsection of 6.
    struct Group: Sendable {
        let name: String
        let sequences: [UTF8Sequence]

        init(_ name: String, valid: [String] = [], invalid: [String] = []) {
            self.name = name
            sequences =
                valid.map { UTF8Sequence(octets: Octets(hex: $0), isValid: true) }
                + invalid.map { UTF8Sequence(octets: Octets(hex: $0), isValid: false) }
        }

        init(_ name: String, _ sequences: [UTF8Sequence]) {
            self.name = name
            self.sequences = sequences
        }
    }

    static let groups: [Group] = [
        Group(
            "Correct UTF-8",
            [
                "hello\u{24}world", "hello\u{A2}world", "hello\u{20AC}world", "hello\u{24B62}world",
                AutobahnCase.greek,
            ].map { UTF8Sequence(octets: $0, isValid: true) }),
        // Complete code points end after these octets.
        Group(
            "Prefixes of correct UTF-8",
            (1...11).map {
                UTF8Sequence(octets: AutobahnCase.greek.prefix($0), isValid: [2, 5, 7, 9, 11].contains($0))
            }),
        Group("First sequence of a length", valid: ["00", "C280", "E0A080", "F0908080"]),
        Group("First sequence of length 5 and 6", invalid: ["F888808080", "FC8480808080"]),
        Group("Last sequence of a length", valid: ["7F", "DFBF", "EFBFBF", "F48FBFBF"]),
        Group("Last sequence of length 4, 5 and 6", invalid: ["F7BFBFBF", "FBBFBFBFBF", "FDBFBFBFBFBF"]),
        Group("Other boundaries", valid: ["ED9FBF", "EE8080", "EFBFBD", "F48FBFBF"], invalid: ["F4908080"]),
        Group(
            "Unexpected continuation octets",
            invalid: ["80", "BF", "80BF", "80BF80", "80BF80BF", "80BF80BF80", "80BF80BF80BF", continuations]),
        Group("Lonely start octets", invalid: starts),
        Group("Sequences without their last octet", invalid: incomplete),
        Group("Incomplete sequences, joined", invalid: [incomplete.joined()]),
        Group("Impossible octets", invalid: ["FE", "FF", "FEFEFFFF"]),
        Group(
            "Overlong ASCII character",
            invalid: ["C0AF", "E080AF", "F08080AF", "F8808080AF", "FC80808080AF"]),
        Group(
            "Longest overlong sequences",
            invalid: ["C1BF", "E09FBF", "F08FBFBF", "F887BFBFBF", "FC83BFBFBFBF"]),
        Group("Overlong NUL", invalid: ["C080", "E08080", "F0808080", "F880808080", "FC8080808080"]),
        Group(
            "Single surrogates",
            invalid: ["EDA080", "EDADBF", "EDAE80", "EDAFBF", "EDB080", "EDBE80", "EDBFBF"]),
        Group(
            "Paired surrogates",
            invalid: [
                "EDA080EDB080", "EDA080EDBFBF", "EDADBFEDB080", "EDADBFEDBFBF", "EDAE80EDB080",
                "EDAE80EDBFBF", "EDAFBFEDB080", "EDAFBFEDBFBF",
            ]),
        Group("Non-characters, which UTF-8 allows", valid: ["EFBFBE", "EFBFBF"] + nonCharacters),
        Group(
            "Specials, such as the replacement character",
            valid: ["EFBFB9", "EFBFBA", "EFBFBB", "EFBFBC", "EFBFBD", "EFBFBE", "EFBFBF"]),
    ]

    /// 0x80 to 0xBE; the suite leaves out the last one of a range here and in `starts`.
    private static let continuations = (0x80..<0xBF).map { String($0, radix: 16) }.joined()

    private static let starts = [0xC0..<0xDF, 0xE0..<0xEF, 0xF0..<0xF7, 0xF8..<0xFB, 0xFC..<0xFD].map {
        range in
        range.map { String($0, radix: 16) + "20" }.joined()
    }

    private static let incomplete = [
        "C0", "E080", "F08080", "F8808080", "FC80808080", "DF", "EFBF", "F7BFBF", "FBBFBFBF", "FDBFBFBFBF",
    ]

    /// U+nFFFE and U+nFFFF of planes 1 to 16.
    private static let nonCharacters = (1...16).flatMap { plane in
        (0xFFFE...0xFFFF).map { low in
            let point = plane << 16 | low
            let octets = [
                0xF0 | point >> 18, 0x80 | point >> 12 & 63, 0x80 | point >> 6 & 63, 0x80 | point & 63,
            ]
            return octets.map { String($0, radix: 16) }.joined()
        }
    }
}

extension AutobahnCase {
    /// “kosme”, the word that Markus Kuhn's test begins with, in 11 octets.
    static let greek = Octets(hex: "CEBAE1BDB9CF83CEBCCEB5")
}
