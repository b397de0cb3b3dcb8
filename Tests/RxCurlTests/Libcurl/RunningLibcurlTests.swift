import FoundationEssentials
import RxCurl
import Testing

/// Whether the running libcurl is the one that `Tests/libcurl.sh` intends to run.
@Suite struct RunningLibcurlTests {
    private static let expected = ProcessInfo.processInfo.environment["EXPECTED_LIBCURL"]

    @Test(.enabled(if: expected != nil)) func itIsTheExpectedOne() throws {
        let parts = try #require(Self.expected).split(separator: "-")
        let features = LibcurlFeatures.running
        #expect(features.version.description == String(parts[0]))
        let backend = parts.count > 1 ? "gnutls" : "openssl"
        #expect(features.tlsBackend?.lowercased().hasPrefix(backend) == true)
    }

    @Test func itSpeaksWhatIsNeeded() {
        let features = LibcurlFeatures.running
        #expect(features.version >= .init(7, 88, 1))
        #expect(features.protocols.isSuperset(of: ["http", "https"]))
        #expect(features.hasHTTP2)
        #expect(features.codings.contains("gzip"))
        #expect(CurlTransport.shared.features == features)
    }
}
