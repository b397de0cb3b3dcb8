#if Auth
import FoundationEssentials

/// A date as AWS signatures write it: `20150830T123600Z`, and `20150830` for the day.
struct AWSDate: Sendable, Hashable {
    let text: String
    let day: String

    init(_ date: Date) {
        // Dates outside of the years 1 to 9999 have no such text; no server accepts them.
        let seconds = Int(
            min(max(date.timeIntervalSince1970.rounded(.down), -62_135_596_800), 253_402_300_799))
        let (days, rest) = (Self.floorDivision(seconds, 86400), Self.remainder(seconds, 86400))
        let (year, month, dayOfMonth) = Self.civil(days)
        day = Self.digits(year, 4) + Self.digits(month, 2) + Self.digits(dayOfMonth, 2)
        text =
            day + "T" + Self.digits(rest / 3600, 2) + Self.digits(rest / 60 % 60, 2)
            + Self.digits(rest % 60, 2) + "Z"
    }

    /// The day of the Gregorian calendar, counted in years that begin in March, so that the leap day is last
    /// (E. G. Richards, "Calendars", in the Explanatory Supplement to the Astronomical Almanac, 2013).
    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = floorDivision(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        )
    }

    private static func floorDivision(_ value: Int, _ divisor: Int) -> Int {
        value >= 0 ? value / divisor : (value - divisor + 1) / divisor
    }

    private static func remainder(_ value: Int, _ divisor: Int) -> Int {
        value - floorDivision(value, divisor) * divisor
    }

    private static func digits(_ value: Int, _ count: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}
#endif
