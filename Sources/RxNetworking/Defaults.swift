import CLibpsl
public import FoundationEssentials
public import RxClient
public import RxCookies
import RxCurl
public import RxHTTP

extension Client {
    /// Creates a client that sends its requests over libcurl, by the transport that all clients share
    /// (`CurlTransport.shared`).
    ///
    /// ```swift
    /// var configuration = ClientConfiguration(baseURL: "https://api.example.com/v1")
    /// configuration.options.timeouts = Timeouts(total: .seconds(20))
    /// let client = Client(configuration: configuration)
    /// ```
    ///
    /// - Parameter configuration: how requests are made, and the base URL of their paths.
    public convenience init(configuration: ClientConfiguration) {
        self.init(configuration: configuration, transport: CurlTransport.shared)
    }

    /// Creates a client that sends its requests over libcurl, by the transport that all clients share.
    ///
    /// ```swift
    /// let client = Client(baseURL: "https://api.example.com/v1")
    /// ```
    ///
    /// - Parameter baseURL: the URL that paths are relative to.
    public convenience init(baseURL: String) {
        // Separate, so that the compiler names the right label where it is missing.
        self.init(baseURL: baseURL, configuration: ClientConfiguration())
    }

    /// Creates a client that sends its requests over libcurl, by the transport that all clients share.
    ///
    /// - Parameters:
    ///   - baseURL: the URL that paths are relative to; replaces the base URL of the configuration.
    ///   - configuration: the configuration of the client's requests.
    public convenience init(baseURL: String, configuration: ClientConfiguration) {
        self.init(baseURL: baseURL, configuration: configuration, transport: CurlTransport.shared)
    }
}

extension CookieJar {
    // The default limits repeat those of the initializers in RxCookies; change both.

    /// Creates a jar in memory, with the system's list of public suffixes.
    ///
    /// - Parameters:
    ///   - domainLimit: the maximum number of cookies per domain. Over a limit, expired cookies are evicted first, then
    ///     those without `Secure`, then the least recently used. Default 180.
    ///   - countLimit: the maximum number of cookies in total. Default 3,000.
    ///   - longestLifetime: the maximum lifetime of a cookie, in seconds; longer lifetimes are cut. Default 400 days.
    public convenience init(
        domainLimit: Int = 180, countLimit: Int = 3000, longestLifetime: TimeInterval = 400 * 86400
    ) {
        self.init(
            publicSuffixes: .system, domainLimit: domainLimit, countLimit: countLimit,
            longestLifetime: longestLifetime)
    }

    // These limits, too, repeat those in RxCookies.

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
    ///   - domainLimit: the maximum number of cookies per domain. Default 180.
    ///   - countLimit: the maximum number of cookies in total. Default 3,000.
    ///   - longestLifetime: the maximum lifetime of a cookie, in seconds; longer lifetimes are cut. Default 400 days.
    ///   - files: the file system of the file. Default: the machine's, through the loop that all clients share.
    public convenience init(
        file path: String, keepsSessionCookies: Bool = false, domainLimit: Int = 180, countLimit: Int = 3000,
        longestLifetime: TimeInterval = 400 * 86400, files: (any FileSystem)? = nil
    ) {
        self.init(
            publicSuffixes: .system, domainLimit: domainLimit, countLimit: countLimit,
            longestLifetime: longestLifetime,
            storage: .file(path, on: files ?? CurlTransport.shared.files),
            keepsSessionCookies: keepsSessionCookies)
    }
}

extension CredentialFile {
    /// Creates a store in a file of the machine, read and written through the loop that all clients share.
    ///
    /// ```swift
    /// let store = CredentialFile("/var/lib/app/credential.json")
    /// ```
    ///
    /// - Parameter path: the path of the file; the first save creates it. Its folder must exist.
    public init(_ path: String) {
        self.init(path, on: CurlTransport.shared.files)
    }
}

extension HSTSStore {
    /// Creates a store in a text file of the machine, read and written through the loop that all clients share. See
    /// ``HSTSStore/init(file:on:)``.
    ///
    /// ```swift
    /// connections.hsts = HSTSStore(file: "/var/lib/app/hsts.txt")
    /// ```
    ///
    /// - Parameter path: the path of the file; the first save creates it. Its folder must exist.
    public convenience init(file path: String) {
        self.init(file: path, on: CurlTransport.shared.files)
    }
}

extension PublicSuffixes {
    /// The Public Suffix List of libpsl: the system's file, which package updates renew, or the list compiled into the
    /// library, whichever is newer. Without either, ``PublicSuffixes/unknown``.
    public static let system: PublicSuffixes = {
        guard let list = SystemList() else { return .unknown }
        return PublicSuffixes { domain in list.contains(domain) }
    }()
}

/// libpsl's list, which is kept as long as the process runs.
@safe
private final class SystemList: @unchecked Sendable {
    // Unchecked: the list is never changed or freed once it is loaded, and lookups keep no
    // state (https://rockdaboot.github.io/libpsl/libpsl-Public-Suffix-List-functions.html, psl_is_public_suffix).
    private let list: OpaquePointer

    init?() {
        guard let list = unsafe psl_latest(nil) else { return nil }
        unsafe self.list = list
    }

    func contains(_ domain: String) -> Bool {
        unsafe psl_is_public_suffix(list, domain) == 1
    }
}
