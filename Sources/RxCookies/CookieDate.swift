import FoundationEssentials
import RxHTTP

extension Date {
    /// Parses the date in an `Expires` attribute, as leniently as RFC 6265 §5.1.1 requires: the parts in any
    /// order, with any text between and around them.
    init?(cookieDate text: String) {
        var clock: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?
        for token in text.utf8.split(whereSeparator: \.isCookieDateDelimiter) {
            if clock == nil, let found = token.clock {
                clock = found
            } else if day == nil, let found = token.leadingNumber(digits: 1...2) {
                day = found
            } else if month == nil, let found = token.month {
                month = found
            } else if year == nil, let found = token.leadingNumber(digits: 2...4) {
                year = found
            }
        }
        guard let clock, let day, let month, let year else { return nil }
        let fullYear =
            switch year {
            case 70...99: year + 1900
            case 0...69: year + 2000
            default: year
            }
        guard fullYear >= 1601, clock.second <= 59 else { return nil }
        self.init(
            year: fullYear, month: month, day: day, hour: clock.hour, minute: clock.minute,
            second: clock.second)
    }
}

extension UInt8 {
    /// `delimiter` of RFC 6265 §5.1.1.
    fileprivate var isCookieDateDelimiter: Bool {
        switch self {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    fileprivate var digit: Int? { (0x30...0x39).contains(self) ? Int(self) - 0x30 : nil }
}

extension Substring.UTF8View {
    /// The number at the start of the token, if it has an allowed number of digits and no further digit
    /// follows.
    fileprivate func leadingNumber(digits allowed: ClosedRange<Int>) -> Int? {
        let digits = prefix(allowed.upperBound + 1).prefix { $0.digit != nil }
        guard allowed.contains(digits.count) else { return nil }
        return digits.reduce(0) { $0 * 10 + ($1.digit ?? 0) }
    }

    /// `hh:mm:ss`, one or two digits each; any text may follow that does not begin with a digit.
    fileprivate var clock: (hour: Int, minute: Int, second: Int)? {
        let fields = split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, fields[..<2].allSatisfy({ $0.allSatisfy { $0.digit != nil } }),
            let hour = fields[0].leadingNumber(digits: 1...2),
            let minute = fields[1].leadingNumber(digits: 1...2),
            let second = fields[2].leadingNumber(digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    /// The month from 1 to 12, by its first three letters.
    fileprivate var month: Int? {
        let letters = prefix(3).map { $0 | 0x20 }
        return Self.months.firstIndex { $0.elementsEqual(letters) }.map { $0 + 1 }
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ].map { Array($0.utf8) }
}
