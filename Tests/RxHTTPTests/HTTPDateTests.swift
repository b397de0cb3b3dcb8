import FoundationEssentials
import RxHTTP
import RxTesting
import Testing

/// RFC 9110 §5.6.7.
@Suite struct HTTPDateTests {
    /// The three formats of one time.
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func threeForms(text: String) {
        #expect(Date(httpDate: text)?.timeIntervalSince1970 == 784_111_777)
    }

    /// Limits of the calendar.
    @Test(arguments: [
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
        ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ("Mon, 01 Jan 1601 00:00:00 GMT", -11_644_473_600),
        // A leap second is the second after it.
        ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
    ])
    func edges(text: String, seconds: Double) {
        #expect(Date(httpDate: text)?.timeIntervalSince1970 == seconds)
    }

    /// A year of two digits is at most 50 years ahead, else in the previous century (RFC 9110 §5.6.7).
    @Test(arguments: [
        ("Wednesday, 01-Jan-69 00:00:00 GMT", 3_124_224_000),
        ("Thursday, 01-Jan-70 00:00:00 GMT", 3_155_760_000),
        ("Saturday, 21-Nov-76 00:00:00 GMT", 3_373_142_400),
        ("Friday, 24-Nov-76 00:00:00 GMT", 217_641_600),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Tuesday, 29-Feb-00 00:00:00 GMT", 951_782_400),
    ])
    func centuries(text: String, seconds: Double) {
        let now = Date(timeIntervalSince1970: 1_795_305_600)  // 22 November 2026
        #expect(Date(httpDate: text, now: now)?.timeIntervalSince1970 == seconds)
    }

    /// Caches read names in any case (RFC 9111 §4.2), and nothing else more leniently.
    @Test func anyCase() {
        for text in [
            "SUN, 06 nov 1994 08:49:37 gmt", "sunday, 06-NOV-94 08:49:37 Gmt", "sun nOv  6 08:49:37 1994",
        ] {
            #expect(Date(httpDate: text) == nil)
            #expect(Date(httpDate: text, ignoresCase: true)?.timeIntervalSince1970 == 784_111_777)
        }
        #expect(Date(httpDate: "Sun 06 Nov 1994 08:49:37 GMT", ignoresCase: true) == nil)
    }

    /// Other texts are nil.
    @Test(arguments: [
        "Sun, 06-Nov-94 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT",
        "Sun 06 Nov 1994 08:49:37 GMT", "Sunday 06-Nov-94 08:49:37 GMT", "Sun,06 Nov 1994 08:49:37 GMT",
        "Sun,  06 Nov 1994 08:49:37 GMT", "Sun, 06  Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994  08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37  GMT", " Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT ",
        "06 Nov 1994 08:49:37 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT",
        "Sun, 06 November 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000",
        "Sun, 06 Nov 1994 08:49:37 gmt",
        "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 1994 GMT", "Sun, Nov  6 08:49:37 1994",
        "Sun Nov  6 08:49:37 94", "Sun Nov  06 08:49:37 1994",
        "", " ", ",", "-", "0", "-1", "120", "tomorrow", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 nov 1994 08:49:37 GMT",
        "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sat, 31 Nov 1994 08:49:37 GMT", "Wed, 29 Feb 2023 00:00:00 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 ::: GMT",
        "Sun, 06 Nov 99999999999999999999 08:49:37 GMT", "Sun, 06 Nov 0000 08:49:37 GMT",
        "Sun, 06 Nov 199 08:49:37 GMT", "Sun, ٠٦ Nov 1994 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT GMT", "999999999999999999999999999999",
    ])
    func garbage(text: String) {
        #expect(Date(httpDate: text) == nil)
    }

    /// Mutated dates never trap, and parsed ones have a valid time in a plausible year.
    @Test(arguments: 1...8)
    func mutations(seed: UInt64) {
        var random = SeededRandom(seed)
        let forms = [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        ].map { Array($0.utf8) }
        for _ in 0..<2000 {
            let form = forms.randomElement(using: &random) ?? []
            let text = String(decoding: form.mutated(by: &random), as: UTF8.self)
            guard let date = Date(httpDate: text) else { continue }
            #expect((-11_644_473_600...253_402_300_800).contains(date.timeIntervalSince1970), "\(text)")
        }
    }
}
