import RxTesting

/// Documents of every kind, some of them with typical mistakes of servers.
enum RandomJSON {
    private static let scalars = [
        "0", "-0", "1", "-17", "3.25", "1e3", "1.0", "1.5e-7", "12345678901", "18446744073709551615", "1e400",
        "01",
        "-", "true", "false", "null", #""""#, #""a""#, #""\u00e9\n""#, #""\ud83c\udf75""#, #""\ud83c""#,
        "\"é🍵\"",
        #""a longer text, of more than fifteen bytes""#, #""2024-01-02T03:04:05Z""#, "\"\t\"", #""\q""#,
    ]
    private static let keys = [
        "a", "b", "c", "ab", "", "é", "e\u{301}", "\\u0061", "\\u00e9", "K", "\u{212A}", "key", "a_b", "\\n",
        "x\\qy",
    ]
    private static let blanks = ["", "", "", " ", "\n", "\t ", "\r\n"]

    static func text(_ random: inout SeededRandom) -> String { value(&random, depth: 0) }

    private static func value(_ random: inout SeededRandom, depth: Int) -> String {
        let before = blanks.randomElement(using: &random) ?? ""
        let behind = blanks.randomElement(using: &random) ?? ""
        let count = Int.random(in: 0...(depth == 1 ? 20 : 4), using: &random)
        let comma = Int.random(in: 0..<10, using: &random) == 0 ? "," : ""
        switch depth < 4 ? Int.random(in: depth == 0 ? 2...4 : 0...4, using: &random) : 0 {
        case 0, 1: return before + (scalars.randomElement(using: &random) ?? "0") + behind
        case 2:
            let elements = (0..<count).map { _ in value(&random, depth: depth + 1) }
            return "\(before)[\(elements.joined(separator: ","))\(comma)]\(behind)"
        default:
            let members = (0..<count).map { number in
                let key = keys.randomElement(using: &random) ?? ""
                let suffix = Bool.random(using: &random) ? "\(number)" : ""
                return "\"\(key)\(suffix)\":\(value(&random, depth: depth + 1))"
            }
            return "\(before){\(members.joined(separator: ","))\(comma)}\(behind)"
        }
    }
}
