import FoundationEssentials
import RxHTTP
import RxTesting
import Testing

/// Resolution of references by RFC 3986 §5.
@Suite struct URLReferenceTests {
    private static func resolve(_ reference: String, _ base: String = "http://a/b/c/d;p?q") -> String? {
        URL(string: base).flatMap { URL(reference: reference, base: $0) }?.absoluteString
    }

    /// The examples of RFC 3986 §5.4.
    @Test(arguments: [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
        ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."),
        (".g", "http://a/b/c/.g"),
        ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("g#s/./x", "http://a/b/c/g#s/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"),
    ])
    func examples(reference: String, target: String) { #expect(Self.resolve(reference) == target) }

    /// Dot segments of absolute and network-path references are removed; empty segments stay.
    @Test(arguments: [
        ("http://b/a/./../c", "http://b/c"), ("http://b/..", "http://b/"), ("//b/../x/.", "http://b/x/"),
        ("https://b", "https://b"), ("http://b?x", "http://b?x"), ("/a//../b", "http://a/a/b"),
        ("//b//x", "http://b//x"), ("/%2e%2e/x", "http://a/%2e%2e/x"),
    ])
    func dotSegments(reference: String, target: String) { #expect(Self.resolve(reference) == target) }

    /// A base without a path has the root path.
    @Test func emptyBase() {
        #expect(Self.resolve("g", "http://a") == "http://a/g")
        #expect(Self.resolve("g?x", "http://a?y") == "http://a/g?x")
        #expect(Self.resolve("?x", "http://a?y") == "http://a?x")
    }

    /// Invalid characters are escaped, once, and escapes stay.
    @Test(arguments: [
        ("a b", "a%20b"), ("%61%20b", "%61%20b"), ("a%20b c", "a%20b%20c"), ("%", "%25"), ("%2", "%252"),
        ("%zz%41", "%25zz%41"), ("ü%C3%BC", "%C3%BC%C3%BC"),
        ("a|b^c`{d}\"<>\\", "a%7Cb%5Ec%60%7Bd%7D%22%3C%3E%5C"),
        ("[x]", "%5Bx%5D"), ("x?a=[%5B]&b= ", "x?a=%5B%5B%5D&b="), ("x?/?", "x?/?"),
        ("x#a b%20", "x#a%20b%20"),
        ("a\tb", "a%09b"),
    ])
    func escapes(reference: String, escaped: String) {
        #expect(Self.resolve(reference) == "http://a/b/c/" + escaped)
    }

    /// Mutated references never trap; resolved ones are absolute.
    @Test(arguments: 1...4)
    func mutations(seed: UInt64) {
        var random = SeededRandom(seed)
        let references = ["https://u@h:81/a/../b?c#d", "//[::1]/%20/..", "../../x y%"].map { Array($0.utf8) }
        for _ in 0..<1000 {
            let bytes = (references.randomElement(using: &random) ?? []).mutated(by: &random)
            guard let text = Self.resolve(String(decoding: bytes, as: UTF8.self)) else { continue }
            #expect(Self.resolve(text) == text)
        }
    }
}
