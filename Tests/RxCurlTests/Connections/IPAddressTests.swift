import RxHTTP
import Testing

@testable import RxCurl

@Suite struct IPAddressTests {
    @Test(arguments: [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1",
        "127.255.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1",
        "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1",
        "239.255.255.255", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fc00::1", "fd12::1",
        "ff02::1", "fec0::1", "100::1", "2001:db8::1", "2001::1", "2001:10::1", "::ffff:127.0.0.1",
        "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2002:a00:1::1", "3fff::1", "::127.0.0.1",
        "5f00::1", "64:ff9b:1::1",
    ])
    func notForEverybody(text: String) throws {
        #expect(try #require(IPAddress(text)).isPublic == false)
    }

    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
        "126.255.255.255", "128.0.0.1", "169.253.0.1", "172.15.255.255", "172.32.0.0", "192.0.1.1",
        "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
        "2606:4700:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1",
    ])
    func forEverybody(text: String) throws {
        #expect(try #require(IPAddress(text)).isPublic == true)
    }

    @Test(arguments: ["", "localhost", "1.2.3", "1.2.3.4.5", "256.1.1.1", ":::", "2001:db8", "127.0.0.1 "])
    func noAddress(text: String) { #expect(IPAddress(text) == nil) }

    @Test(arguments: ["192.0.2.7", "2001:db8::7", "::"]) func isPrintedAsItIsRead(text: String) throws {
        #expect(try #require(IPAddress(text)).description == text)
    }

    @Test(arguments: [
        (
            "Unsupported proxy scheme for 'ftp://me:secret@host:1'",
            "Unsupported proxy scheme for 'ftp://host:1'"
        ),
        ("me:secret@host", "host"), ("http://a:b@c@d/", "http://d/"), ("no secrets", "no secrets"),
        ("Failed to connect to 127.0.0.1 port 1", "Failed to connect to 127.0.0.1 port 1"),
        ("http://me@host//@x", "http://x"), ("//", "//"), (" a@b  c", " b  c"),
        // One `Character` with the separator.
        ("http://me:secret\u{600}@host:1", "http://host:1"), ("me:secret@\u{301}host", "\u{301}host"),
        ("http://\u{301}me:secret@host", "http://host"), ("a \u{301}me:secret@host", "a host"),
    ])
    func userInfoIsLeftOut(text: String, shown: String) {
        #expect(text.withoutUserInfo == shown)
        #expect("\(Proxy(text))" == shown)
        #expect(Proxy(text).debugDescription == shown)
    }
}
