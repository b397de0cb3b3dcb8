import FoundationEssentials
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
    ])
    func seconds(_ field: String, _ seconds: TimeInterval?) {
        #expect(CacheControl(field).seconds("max-age") == seconds)
    }

    @Test func fieldNames() {
        let directives = CacheControl("no-cache=\"Set-Cookie, X\", private, max-age=1")
        #expect(directives.fieldNames("no-cache") == ["set-cookie", "x"])
        #expect(directives.fieldNames("private").isEmpty && directives.fieldNames("public").isEmpty)
        #expect(
            directives.has("private") && directives.argument("private") == nil && !directives.has("public"))
    }
}
