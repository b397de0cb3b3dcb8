public import RxCookies
import RxCurl
public import RxHTTP

extension CookieJar {
    /// Creates a jar in memory, with the system's list of public suffixes.
    ///
    /// - Parameter limits: the limits of the jar.
    public convenience init(limits: CookieLimits = CookieLimits()) {
        self.init(publicSuffixes: .system, limits: limits)
    }

    /// Creates a jar with a file. Each save replaces the file atomically, with mode 0600; its folder must exist. Two
    /// jars, or two processes, must not share one file: each would overwrite the changes of the other.
    ///
    /// ```swift
    /// configuration.cookies = CookieJar(file: "/var/lib/app/cookies.json")
    /// ```
    ///
    /// - Parameters:
    ///   - path: the path of the file; the first save creates it.
    ///   - keepsSessionCookies: whether cookies without an expiry are saved too. Default false: they end with
    ///     the process.
    ///   - limits: the limits of the jar.
    ///   - files: the file system of the file. Default: the machine's, through the loop that all clients share.
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
