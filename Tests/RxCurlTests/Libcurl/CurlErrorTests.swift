import CLibcurl
import RxHTTP
import Testing

@testable import RxCurl

/// The meaning of curl's codes and messages, in the words of each version and TLS library.
@Suite struct CurlErrorTests {
    @Test(arguments: [
        "Illegal or missing hexadecimal sequence in chunked-encoding", "chunk hex-length longer than 16",
        "chunk hex-length char not a hex digit: 0x78", "invalid chunk size: '12345678901234567'",
        "Failed reading the chunked-encoded stream",
    ])
    func aMalformedChunk(message: String) {
        #expect(CurlError(CURLE_RECV_ERROR, detail: message).kind(isSent: true) == .invalidResponse)
    }

    @Test(arguments: [
        "OpenSSL SSL_read: error:0A000126:SSL routines::unexpected eof while reading, errno 0",
        "GnuTLS recv error (-110): The TLS connection was non-properly terminated.",
        "GnuTLS recv error (-9): Error decoding the received TLS packet.",
    ])
    func anEndWithoutCloseNotify(message: String) {
        #expect(CurlError(CURLE_RECV_ERROR, detail: message).kind(isSent: true) == .partialBody)
    }

    @Test func aReset() {
        let error = CurlError(CURLE_RECV_ERROR, detail: "Recv failure: Connection reset by peer")
        #expect(error.kind(isSent: true) == .connectionLost)
    }

    /// A newer libcurl reports a key that cannot be read like a trailer without a colon.
    @Test(arguments: [(false, false), (false, true), (true, false), (true, true)])
    func badArguments(isSent: Bool, hasCertificate: Bool) {
        var error = CurlError(CURLE_BAD_FUNCTION_ARGUMENT)
        error.hasClientCertificate = hasCertificate
        #expect((error.kind(isSent: isSent) == .tls) == (hasCertificate && !isSent))
        #expect((error.kind(isSent: isSent) == .invalidResponse) == isSent)
    }

    /// By the proxy's use and answer, whatever the text.
    @Test(
        arguments: [
            (false, nil, .connect), (true, nil, .proxy), (true, 407, .proxy), (true, 100, .proxy),
            (true, 200, .connect),
        ] as [(Bool, Int?, NetworkError.Code)])
    func proxies(usesProxy: Bool, status: Int?, code: NetworkError.Code) {
        for text in [
            "CONNECT tunnel failed, response 407", "Failed to connect", "Could not connect over proxy",
        ] {
            for cause in [CURLE_COULDNT_CONNECT, CURLE_RECV_ERROR, CURLE_SEND_ERROR] {
                var error = CurlError(cause, detail: text)
                error.usesProxy = usesProxy
                error.proxyStatus = status
                #expect(error.kind(isSent: false) == code)
            }
        }
    }

    /// For every code of libcurl, sent or not, the message is one sentence for people, without libcurl's words.
    @Test(arguments: 0...110 as ClosedRange<UInt32>, [false, true])
    func sentences(number: UInt32, isSent: Bool) {
        let text = "CURLE: libcurl's text"
        for (usesProxy, status) in [(false, nil), (true, nil), (true, 407)] as [(Bool, Int?)] {
            for result in [0, 2, 9, 10, 18, 23, 62] {
                var error = CurlError(CURLcode(rawValue: number), detail: text, verifyResult: result)
                error.usesProxy = usesProxy
                error.proxyStatus = status
                error.hasClientCertificate = true
                let kind = error.kind(isSent: isSent)
                guard let sentence = error.sentence(for: kind, host: "shop.test", isSent: isSent) else {
                    #expect(kind == .connectTimeout)
                    continue
                }
                #expect(!sentence.lowercased().contains("curl"))
                #expect(sentence.first?.isUppercase == true && sentence.hasSuffix("."))
                #expect(!error.message.isEmpty && !sentence.contains(error.message))
            }
        }
    }

    /// `CURLE_TOO_LARGE` has its number in every libcurl, and a name from 8.6 on.
    @Test func tooLarge() {
        #expect(CurlError(CURLcode(rawValue: 100)).kind(isSent: true) == .tooLarge)
    }

    /// libcurl 7.88 reports it for a name without an address, but only if the name was looked up over HTTPS.
    @Test(arguments: [(false, false), (false, true), (true, false), (true, true)])
    func outOfMemory(isSent: Bool, isLookedUp: Bool) {
        let kind = CurlError(CURLE_OUT_OF_MEMORY).kind(isSent: isSent, isLookedUp: isLookedUp)
        #expect(kind == (isLookedUp && !isSent ? .resolve : .tooLarge))
    }

    /// The numbers of one library mean something else, or nothing, in the other.
    @Test(
        arguments: [
            (10, .expired, nil), (18, .selfSigned, nil), (9, .notYetValid, nil), (23, .revoked, nil),
            (1 << 1 | 1 << 10, nil, .expired), (1 << 1 | 1 << 9, nil, .notYetValid),
            (1 << 1 | 1 << 5, nil, .revoked),
            (1 << 1 | 1 << 6, nil, .unknownAuthority), (-50, nil, nil),
        ] as [(Int, NetworkError.TLSFailure?, NetworkError.TLSFailure?)])
    func verification(result: Int, openSSL: NetworkError.TLSFailure?, gnuTLS: NetworkError.TLSFailure?) {
        func failure(_ backend: String) -> NetworkError.TLSFailure? {
            let features = LibcurlFeatures(version: .init(8, 14, 1), tlsBackend: backend)
            return CurlError(CURLE_PEER_FAILED_VERIFICATION, verifyResult: result, features: features)
                .tlsFailure
        }
        #expect(failure("OpenSSL/3.0.17") == openSSL)
        #expect(failure("GnuTLS/3.7.9") == gnuTLS)
    }
}
