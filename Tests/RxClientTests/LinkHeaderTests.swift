import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxTesting
import Testing

@testable import RxClient

/// RFC 8288 §3.
@Suite struct LinkHeaderTests {
    private let base = "https://a.test/dir/list?page=1"

    private func next(_ header: String) throws -> String? {
        let request = Request(url: try #require(URL(string: base)))
        let response = Response(head: ResponseHead(status: .ok), request: request)
        return try LinkHeader(header).target(of: "next", in: response)?.absoluteString
    }

    /// A field of any size takes linear time. The marks have another order in the form that `String` compares.
    @Test(.timeLimit(.minutes(1))) func large() {
        let marks = String(repeating: "\u{301}\u{323}", count: 200_000)
        let field = LinkHeader("<https://a.test/2>; \(marks)=x; rel=\"\(marks) next\"")
        #expect(field.links.first?.relations.last == "next")
    }

    /// The next link.
    @Test(arguments: [
        (#"<https://a.test/2>; rel="next""#, "https://a.test/2"),
        ("<https://a.test/2>; rel=next", "https://a.test/2"),
        (#"<https://a.test/2>;rel="next""#, "https://a.test/2"),
        (#"<https://a.test/2>  ;  rel  =  "next"  "#, "https://a.test/2"),
        (#"<https://a.test/9>; rel="last", <https://a.test/2>; rel="next""#, "https://a.test/2"),
        // Quoted commas, semicolons and escapes.
        (
            #"<https://a.test/1>; title="a, <b>; rel=\"next\""; rel=prev, <https://a.test/2>; rel=next"#,
            "https://a.test/2"
        ),
        (#"<https://a.test/2>; title="x;y,z"; rel="next""#, "https://a.test/2"),
        (#"<https://a.test/2,3;4>; rel=next"#, "https://a.test/2,3;4"),
        // Several relations, any case.
        (#"<https://a.test/2>; rel="prefetch next""#, "https://a.test/2"),
        (#"<https://a.test/2>; REL="NEXT""#, "https://a.test/2"),
        (#"<https://a.test/2>; rel="  next   last ""#, "https://a.test/2"),
        // Relative targets.
        (#"</list?page=2>; rel=next"#, "https://a.test/list?page=2"),
        (#"<?page=2>; rel=next"#, "https://a.test/dir/list?page=2"),
        (#"<more>; rel=next"#, "https://a.test/dir/more"),
        (#"<//b.test/2>; rel=next"#, "https://b.test/2"),
        (#"<../x>; rel=next"#, "https://a.test/x"),
        // The first rel of a link counts, and the first link.
        (#"<https://a.test/1>; rel=prev; rel=next, <https://a.test/2>; rel=next"#, "https://a.test/2"),
        (#"<https://a.test/2>; rel=next; rel=prev"#, "https://a.test/2"),
        (#"<https://a.test/2>; rel=next, <https://a.test/3>; rel=next"#, "https://a.test/2"),
        // Malformed links are skipped, others count.
        (#", ,, garbage, <https://a.test/2>; rel=next,"#, "https://a.test/2"),
        (#"<https://a.test/1>; rel, <https://a.test/2>; rel=next"#, "https://a.test/2"),
        (#"https://a.test/1; rel=next, <https://a.test/2>; rel=next"#, "https://a.test/2"),
        (#"<https://a.test/2>;; rel=next"#, "https://a.test/2"),
        (#"<https://a.test/2>; ; =; x; rel=next"#, "https://a.test/2"),
        (#"<https://a.test/1>; rel=prev <https://a.test/2>; rel=next"#, nil),
        (#"<https://a.test/2>; rel="next"#, "https://a.test/2"),
        ("", nil), ("<", nil), ("<>", nil), (">", nil), ("<https://a.test/2", nil),
        ("<https://a.test/2>", nil),
        ("<https://a.test/2; rel=next", nil), ("\"", nil), ("<a>;", nil), ("<a>; rel=", nil),
        ("<a>; rel=\"", nil),
        ("<a>; rel=\"\\", nil), (#"<https://a.test/2>; rel=nextpage"#, nil),
        (#"<https://a.test/2>; rev=next"#, nil),
        (#"<https://a.test/2>; rel="prev", "next""#, nil),
        (#"<https://a.test/2>; title="rel=next""#, nil),
        (#"<https://a.test/2>, rel=next"#, nil), (#"<ftp://a.test/1>; rel=prev"#, nil),
        // A link of another document is not a link of this one.
        (
            #"<https://a.test/1>; rel=next; anchor="/other", <https://a.test/2>; rel=next"#,
            "https://a.test/2"
        ),
    ])
    func table(header: String, target: String?) throws {
        #expect(try next(header) == target)
    }

    /// A target that is not an http URL is an error that names it without its secrets.
    @Test(arguments: [
        ("ftp://u:secret@a.test/2?secret", "\"@a.test/2\""), ("mailto:a", "\"mailto:a\""),
        ("https:", "\"https:\""), ("https://", "\"https://\""), ("https://a.test:99999/", "99999"),
        ("", "\"\""), ("data:,\n", "\"data:,\\n\""),
    ])
    func noURL(target: String, shown: String) {
        let error = #expect(throws: NetworkError.self) {
            try next("<https://a.test/1>; rel=prev, <\(target)>; rel=next")
        }
        #expect(error?.code == .paging)
        #expect(error?.message.contains(shown) == true)
        #expect(error?.message.contains("secret") == false)
        #expect(error?.url?.absoluteString == "https://a.test/dir/list")
    }

    /// Mutated headers never trap.
    @Test(arguments: 1...8)
    func mutations(seed: UInt64) throws {
        var random = SeededRandom(seed)
        let header = Array(#"<https://a.test/1>; title="a, \"b"; rel="prev x", </2>; rel=next;x=y"#.utf8)
        let alphabet = Array("<>\";,\\= \trelnx\u{0}é".utf8)
        for _ in 0..<2000 {
            let text = String(decoding: header.mutated(by: &random, alphabet: alphabet), as: UTF8.self)
            for link in LinkHeader(text).links { #expect(link.relations.allSatisfy { !$0.isEmpty }) }
            do {
                _ = try next(text)
            } catch let error as NetworkError {
                #expect(error.code == .paging)
            }
        }
    }
}
