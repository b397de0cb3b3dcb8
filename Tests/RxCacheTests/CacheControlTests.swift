import FoundationEssentials
import HTTPTypes
import RxHTTP
import Testing

@testable import RxCache

@Suite struct CacheControlTests {
    @Test(arguments: [
        ("max-age=5", 5.0 as TimeInterval?), ("MAX-AGE=5", 5), ("max-age=\"5\"", 5), ("max-age=\"\\5\"", 5),
        ("max-age=", 0),
        ("max-age", 0), ("max-age=5 ", 5), ("max-age=5,max-age=6", 5), ("max-age=4294967296", 2_147_483_648),
        ("max-age=99999999999999999999999", 2_147_483_648), ("max-age=+5", 0), ("max-age=5;", 0),
        ("max-age=٥", 0),
        ("x=\"a, max-age=1\", max-age=5", 5), ("x=\"a\\\", max-age=1\", max-age=5", 5),
        ("x=\"open, max-age=1", nil),
        ("", nil), (",,=,=5,", nil), ("xmax-age=5", nil), ("max-age=x=5", 0),
        // One `Character` with the comma or the quote.
        ("x=\u{600},max-age=5", 5), ("x=\"\u{301}\", max-age=5", 5), ("x=\"\u{600}\", max-age=5", 5),
    ])
    func seconds(_ field: String, _ seconds: TimeInterval?) {
        #expect(CacheControl(field).seconds("max-age") == seconds)
    }

    /// A field of any size takes linear time; among flags, each step back by `Character` would be as long as the text.
    @Test(.timeLimit(.minutes(1))) func large() {
        for text in ["\u{1F1E6}", "a\u{301}", "\u{301}\u{323}", " ", "\"", ",", "="] {
            let field = "max-age=5, x=" + String(repeating: text, count: 200_000)
            #expect(CacheControl(field).seconds("max-age") == 5)
        }
        // The marks have another order in the form that `String` compares and hashes.
        let marks = String(repeating: "\u{301}\u{323}", count: 200_000)
        #expect(CacheControl("\(marks)=1, max-age=5, \(marks)").seconds("max-age") == 5)
        #expect(CacheControl("no-cache=\"\(marks), x\"").fieldNames("no-cache").contains("x"))
        let (one, other) = ("\"\(marks)a\"", "\"\(marks)b\"")
        let heads = [one, other, "W/" + one].map { ResponseHead(status: .ok, headerFields: [.eTag: $0]) }
        #expect(!heads[0].hasSameTag(as: heads[1]))
        #expect(heads[0].hasSameTag(as: heads[2]))
    }

    @Test func fieldNames() {
        let directives = CacheControl("no-cache=\"Set-Cookie, X\", private, max-age=1")
        #expect(directives.fieldNames("no-cache") == ["set-cookie", "x"])
        #expect(directives.fieldNames("private").isEmpty && directives.fieldNames("public").isEmpty)
        #expect(
            directives.has("private") && directives.argument("private") == nil && !directives.has("public"))
    }
}
