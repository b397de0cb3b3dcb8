public import FoundationEssentials

extension Date {
    /// The time that an HTTP date names, in any of the three forms of RFC 9110 §5.6.7; `nil` for what is
    /// none of them.
    ///
    /// ```
    /// Sun, 06 Nov 1994 08:49:37 GMT
    /// Sunday, 06-Nov-94 08:49:37 GMT
    /// Sun Nov  6 08:49:37 1994
    /// ```
    public init?(httpDate text: String) {
        let words = text.split { $0 == " " || $0 == "," || $0 == "-" }.map(String.init)
        let fields: (day: String, month: String, year: String, time: String)
        switch words.count {
        case 6 where words[5] == "GMT": fields = (words[1], words[2], words[3], words[4])
        case 5: fields = (words[2], words[1], words[4], words[3])
        default: return nil
        }
        let clock = fields.time.split(separator: ":", omittingEmptySubsequences: false).map {
            Int(digits: $0)
        }
        guard let day = Int(digits: fields.day), let year = Int(year: fields.year),
            let month = Self.httpMonths.firstIndex(of: fields.month),
            clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2]
        else { return nil }
        self.init(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
    }

    /// A time in UTC; `nil` for one that is not in the calendar. The second may be a leap second, 60.
    package init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        guard (0...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
            (0..<24).contains(hour), (0..<60).contains(minute), (0...60).contains(second)
        else { return nil }
        let days = Self.daysSince1970(year: year, month: month, day: day)
        let (nextYear, nextMonth) = month == 12 ? (year + 1, 1) : (year, month + 1)
        guard days < Self.daysSince1970(year: nextYear, month: nextMonth, day: 1) else { return nil }
        self.init(timeIntervalSince1970: Double(days * 86400 + hour * 3600 + minute * 60 + second))
    }

    private static let httpMonths = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Days in the Gregorian calendar, counted in years that begin in March, so that the leap day is last
    /// (E. G. Richards, "Calendars", in the Explanatory Supplement to the Astronomical Almanac, 2013).
    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let (shiftedYear, shiftedMonth) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
        let leapDays = shiftedYear / 4 - shiftedYear / 100 + shiftedYear / 400
        return 365 * shiftedYear + leapDays + (153 * shiftedMonth + 2) / 5 + day - 1 - 719_468
    }
}

extension Int {
    /// One or two decimal digits.
    fileprivate init?(digits text: some StringProtocol) {
        guard (1...2).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else {
            return nil
        }
        self.init(text)
    }

    /// Four digits, or two: 70 to 99 are in the last century, 00 to 69 in this (RFC 6265 §5.1.1).
    fileprivate init?(year text: String) {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(text) else { return nil }
        switch text.utf8.count {
        case 4 where number >= 1601: self = number
        case 2: self = number < 70 ? 2000 + number : 1900 + number
        default: return nil
        }
    }
}
