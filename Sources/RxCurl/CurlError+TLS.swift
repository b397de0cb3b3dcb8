internal import CLibcurl
internal import RxHTTP

extension CurlError {
    /// What was wrong with TLS, if that was it.
    var tlsFailure: TLSFailure? {
        switch code {
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH: .pinMismatch
        case CURLE_SSL_CACERT_BADFILE: .caBundle
        case CURLE_SSL_CERTPROBLEM: .clientCertificate
        case CURLE_PEER_FAILED_VERIFICATION: verification
        case CURLE_SSL_CONNECT_ERROR where says("alert protocol version", "unsupported protocol"):
            .protocolVersion
        // With TLS 1.3 the server looks at the client's certificate when the client takes itself for connected
        // (RFC 8446 §6.2 for the alerts).
        case CURLE_SSL_CONNECT_ERROR, CURLE_RECV_ERROR, CURLE_SEND_ERROR:
            says("alert certificate required", "alert bad certificate", "alert unknown ca")
                ? .clientCertificate : nil
        default: nil
        }
    }

    /// By OpenSSL's `X509_V_ERR_*` (openssl/x509_vfy.h). Host names curl compares by itself, and leaves no number.
    private var verification: TLSFailure? {
        if says("subject name") { return .hostMismatch }
        return switch verifyResult {
        case 9: .notYetValid
        case 10: .expired
        case 18, 19: .selfSigned
        case 2, 20, 21: .unknownAuthority
        case 23: .revoked
        case 62: .hostMismatch
        default: nil
        }
    }

    private func says(_ words: String...) -> Bool { words.contains { message.contains($0) } }
}
