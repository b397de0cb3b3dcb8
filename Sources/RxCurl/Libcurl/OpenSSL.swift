internal import CLibcurl

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The functions of the OpenSSL below libcurl that tell what libcurl does not. They are looked up in the
/// process, so that the transport does not depend on the TLS library.
@safe
struct OpenSSL: Sendable {
    // Safe: the functions have these types in openssl/ssl.h from 1.1.1 on, and stay loaded; they are called with
    // sessions of the same library.
    private typealias Query = @Sendable @convention(c) (UnsafeRawPointer) -> Int32
    private typealias Version = @convention(c) (Int32) -> UnsafePointer<CChar>?

    private let shutdown: Query

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
            let shutdown = unsafe dlsym(process, "SSL_get_shutdown")
        else { return nil }
        unsafe self.shutdown = unsafe unsafeBitCast(shutdown, to: Query.self)
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

    /// Whether the server has ended TLS, as it must before it closes the connection; also true if this cannot be
    /// known. Only in callbacks.
    var hasCloseNotify: Bool {
        guard let library = OpenSSL.running, let session = unsafe session else { return true }
        return unsafe library.hasCloseNotify(session)
    }
}
