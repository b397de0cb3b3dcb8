import CLibcurl

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The functions of the OpenSSL below libcurl that tell what libcurl does not. They are looked up in the
/// process, so that the transport does not depend on the TLS library.
@safe
struct OpenSSL: Sendable {
    // Safe: the functions have these types in openssl/ssl.h from 1.1.1 on, and stay loaded; they are called with
    // sessions of the same library.
    private typealias Query = @Sendable @convention(c) (UnsafeRawPointer) -> Int32
    private typealias Algorithms =
        @Sendable @convention(c) (
            UnsafeRawPointer, Int32, UnsafeMutablePointer<Int32>?, UnsafeMutablePointer<Int32>?,
            UnsafeMutablePointer<Int32>?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?
        ) -> Int32
    private typealias Version = @convention(c) (Int32) -> UnsafePointer<CChar>?

    private let version: Query
    private let shutdown: Query
    private let algorithms: Algorithms

    /// The one that the running libcurl uses; `nil` if libcurl uses another TLS library, or if the process has
    /// another OpenSSL.
    static let running = OpenSSL(below: .running)

    init?(below features: LibcurlFeatures) {
        // `OpenSSL/3.0.17`, and from `OpenSSL_version`: `OpenSSL 3.0.17 1 Jul 2025`.
        guard let name = features.tlsBackend, name.hasPrefix("OpenSSL/"),
            let process = unsafe dlopen(nil, RTLD_LAZY),
            let found = unsafe dlsym(process, "OpenSSL_version"),
            let text = unsafe unsafeBitCast(found, to: Version.self)(0),
            unsafe String(cString: text).split(separator: " ").dropFirst().first == name.dropFirst(8),
            let version = unsafe dlsym(process, "SSL_version"),
            let shutdown = unsafe dlsym(process, "SSL_get_shutdown"),
            let algorithms = unsafe dlsym(process, "SSL_get_sigalgs")
        else { return nil }
        unsafe self.version = unsafe unsafeBitCast(version, to: Query.self)
        unsafe self.shutdown = unsafe unsafeBitCast(shutdown, to: Query.self)
        unsafe self.algorithms = unsafe unsafeBitCast(algorithms, to: Algorithms.self)
    }

    /// Whether the server asked for a certificate and the handshake was complete for the client before the
    /// server saw the answer, as with TLS 1.3. There the server names signature algorithms only if it asks
    /// (RFC 8446 §4.3.2).
    func awaitsVerdict(_ session: UnsafeRawPointer) -> Bool {
        unsafe version(session) == 0x0304 && algorithms(session, -1, nil, nil, nil, nil, nil) > 0
    }

    /// Whether the server has said that nothing follows (close_notify, `SSL_RECEIVED_SHUTDOWN`).
    func hasCloseNotify(_ session: UnsafeRawPointer) -> Bool { unsafe shutdown(session) & 2 != 0 }
}

extension EasyHandle {
    /// The session of OpenSSL on the connection in use (`CURLINFO_TLS_SSL_PTR`), for the time of a callback.
    private var session: UnsafeRawPointer? {
        var pointer: UnsafeMutableRawPointer?
        unsafe _ = rxcurl_easy_getinfo_pointer(raw, CURLINFO_TLS_SSL_PTR, &pointer)
        guard let info = unsafe pointer?.assumingMemoryBound(to: curl_tlssessioninfo.self).pointee,
            unsafe info.backend == CURLSSLBACKEND_OPENSSL
        else { return nil }
        return unsafe UnsafeRawPointer(info.internals)
    }

    /// Whether the server has still to decide on the certificate of the client. Only in callbacks.
    var awaitsCertificateVerdict: Bool {
        guard let library = OpenSSL.running, let session = unsafe session else { return false }
        return unsafe library.awaitsVerdict(session)
    }

    /// Whether the server has ended TLS, as it must before it closes the connection; also true if this cannot be
    /// known. Only in callbacks.
    var hasCloseNotify: Bool {
        guard let library = OpenSSL.running, let session = unsafe session else { return true }
        return unsafe library.hasCloseNotify(session)
    }
}
