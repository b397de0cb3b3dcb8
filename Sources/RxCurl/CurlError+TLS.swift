internal import CLibcurl
internal import RxHTTP

extension CurlError {
    /// The kind of TLS failure, if TLS failed.
    var tlsFailure: TLSFailure? {
        if isAfterCertificateRequest { return .clientCertificate }
        return switch code {
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH: .pinMismatch
        case CURLE_SSL_CACERT_BADFILE: .caBundle
        case CURLE_SSL_CERTPROBLEM: .clientCertificate
        // A newer libcurl says this of a key that it cannot read.
        case CURLE_BAD_FUNCTION_ARGUMENT where hasClientCertificate: .clientCertificate
        case CURLE_PEER_FAILED_VERIFICATION: verification
        case CURLE_SSL_CONNECT_ERROR
        where says("alert protocol version", "unsupported protocol", "Error in protocol version"):
            .protocolVersion
        // GnuTLS has no separate code for a file that cannot be parsed.
        case CURLE_SSL_CONNECT_ERROR where says("error reading X.509"): .clientCertificate
        // With TLS 1.3 the server checks the client's certificate when the client already considers itself
        // connected (alerts: RFC 8446 §6.2).
        case CURLE_SSL_CONNECT_ERROR, CURLE_RECV_ERROR, CURLE_SEND_ERROR:
            says("alert certificate required", "alert bad certificate", "alert unknown ca")
                ? .clientCertificate : nil
        default: nil
        }
    }

    /// Follows OpenSSL's `X509_V_ERR_*` (openssl/x509_vfy.h). curl compares host names itself and sets no
    /// number.
    private var verification: TLSFailure? {
        if says("subject name") { return .hostMismatch }
        if usesGnuTLS { return gnuTLSVerification }
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

    /// Follows the bits of GnuTLS's `gnutls_certificate_status_t` (gnutls/gnutls.h), which does not
    /// distinguish a self-signed certificate from one whose authority is unknown.
    private var gnuTLSVerification: TLSFailure? {
        guard verifyResult > 0 else { return nil }
        let bits: [(Int, TLSFailure)] = [
            (1 << 5, .revoked), (1 << 9, .notYetValid), (1 << 10, .expired),
            (1 << 6 | 1 << 7, .unknownAuthority),
        ]
        return bits.first { verifyResult & $0.0 != 0 }?.1
    }

    private func says(_ words: String...) -> Bool { words.contains { message.contains($0) } }
}
