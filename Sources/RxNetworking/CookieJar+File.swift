public import RxClient
import RxCurl
public import RxHTTP

extension CookieJar {
    /// Creates a jar that lasts as long as the process, with the system's list of public suffixes.
    ///
    /// - Parameter limits: how much is kept.
    public convenience init(limits: CookieLimits = CookieLimits()) {
        self.init(publicSuffixes: .system, limits: limits)
    }

    /// Creates a jar with a file, replaced atomically at each save, with mode 0600; its folder must exist. Two jars, or
    /// two processes, must not share one file: each would write over what the other saved.
    ///
    /// ```swift
    /// configuration.cookies = CookieJar(file: "/var/lib/app/cookies.json")
    /// ```
    ///
    /// - Parameters:
    ///   - path: the file; made by the first save.
    ///   - keepsSessionCookies: whether cookies without an end are saved too. Default no: they end with the
    ///     process.
    ///   - limits: how much is kept.
    ///   - files: where the file is. Default: the machine, by way of the loop that all clients share.
    public convenience init(
        file path: String, keepsSessionCookies: Bool = false, limits: CookieLimits = CookieLimits(),
        files: (any FileSystem)? = nil
    ) {
        self.init(
            publicSuffixes: .system, limits: limits,
            storage: .file(path, on: files ?? CurlTransport.shared.files),
            keepsSessionCookies: keepsSessionCookies)
    }
}
