import FoundationEssentials
import RxHTTP
import RxTesting
import Testing

@testable import RxCookies

/// Lenient dates (RFC 6265 §5.1.1).
@Suite struct CookieDateTests {
    /// Sunday, 6 November 1994, 08:49:37 UTC.
    static let sunday = 784_111_777.0

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", sunday), ("Sunday, 06-Nov-94 08:49:37 GMT", sunday),
            ("Sun Nov  6 08:49:37 1994", sunday), ("Sun, 06-Nov-1994 08:49:37 GMT", sunday),
            ("06 nov 1994 08:49:37", sunday), ("08:49:37 NOVEMBER 6 94", sunday),
            ("1994 6 Nov 08:49:37", sunday), ("nov-6-1994-8:49:37", sunday),
            ("Sun, 06 Nov 1994 08:49:37 -0500", sunday), ("6th Nov 1994th 08:49:37.125", sunday),
            ("%%6%%Nov%%1994%%08:49:37%%", sunday), ("06 Nov 1994 Dec 08:49:37 07 95", sunday),
            ("Wed, 09 Jun 2021 10:18:14 GMT", 1_623_233_894), ("1 Jan 1970 0:0:0", 0),
            ("1 Jan 70 00:00:00", 0), ("31 Dec 69 23:59:59", 3_155_759_999),
            ("1 Jan 00 00:00:00", 946_684_800),
            ("1 Jan 099 00:00:00", 915_148_800), ("1 Jan 100 00:00:00", nil),
            ("29 Feb 2000 00:00:00", 951_782_400),
            ("1 Jan 1601 00:00:00", -11_644_473_600), ("31 Dec 9999 23:59:59", 253_402_300_799),
        ] as [(String, Double?)])
    func reads(text: String, seconds: Double?) {
        #expect(Date(cookieDate: text)?.timeIntervalSince1970 == seconds)
    }

    @Test(arguments: [
        "", " ", "now", "06 Nov 1994", "08:49:37", "06 Nov 08:49:37", "Nov 1994 08:49:37",
        "06 1994 08:49:37", "32 Nov 1994 08:49:37", "00 Nov 1994 08:49:37", "31 Nov 1994 08:49:37",
        "29 Feb 1900 08:49:37", "29 Feb 2100 08:49:37", "06 Nov 1600 08:49:37", "06 Nov 1994 24:00:00",
        "06 Nov 1994 08:60:00", "06 Nov 1994 08:49:60", "06 Nov 1994 08:49", "06 Nov 1994 008:49:37",
        "06 Nov 1994 08:49:370", "06 Nov 10000 08:49:37", "06 Nox 1994 08:49:37", "006 Nov 1994 08:49:37",
        "06 Nov 1994 08 :49:37", "06 ¾ 1994 08:49:37", "06 N 1994 08:49:37",
    ])
    func refuses(text: String) {
        #expect(Date(cookieDate: text) == nil)
    }

    /// Every format of HTTP date means the same as a cookie date.
    @Test(arguments: 0..<200)
    func agreesWithHTTPDates(seed: Int) throws {
        var random = SeededRandom(UInt64(seed))
        let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let month = Int.random(in: 0..<12, using: &random)
        func two(_ range: Range<Int>) -> String {
            let number = Int.random(in: range, using: &random)
            return number < 10 ? "0\(number)" : "\(number)"
        }
        let text =
            "Mon, \(two(1..<29)) \(names[month]) \(Int.random(in: 1601..<9999, using: &random)) "
            + "\(two(0..<24)):\(two(0..<60)):\(two(0..<60)) GMT"
        let date = Date(cookieDate: text)
        #expect(date != nil)
        #expect(date == Date(httpDate: text))
    }
}
