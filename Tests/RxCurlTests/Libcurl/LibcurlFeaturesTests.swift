import RxCurl
import Testing

@Suite struct LibcurlFeaturesTests {
    @Test func versionsCompareByValue() {
        let versions: [LibcurlFeatures.Version] = [
            .init(7, 9, 200), .init(7, 88, 1), .init(8, 0), .init(8, 4), .init(8, 4, 1), .init(8, 14, 1),
            .init(10, 0),
        ]
        #expect(versions.shuffled().sorted() == versions)
        #expect(versions.map(\.description)[1] == "7.88.1")
        #expect((versions[1].major, versions[1].minor, versions[1].patch) == (7, 88, 1))
    }

    @Test func theDescriptionNamesWhatIsThere() {
        var features = LibcurlFeatures(version: .init(8, 14, 1), tlsBackend: "GnuTLS/3.7.9")
        #expect(features.description == "libcurl 8.14.1 with GnuTLS/3.7.9, HTTP/2")
        features.hasHTTP3 = true
        features.protocols.insert("ws")
        #expect(features.description == "libcurl 8.14.1 with GnuTLS/3.7.9, HTTP/2, HTTP/3, WebSocket")
        features = LibcurlFeatures(version: .init(7, 88, 1), hasHTTP2: false)
        #expect(features.description == "libcurl 7.88.1 with no TLS")
    }
}
