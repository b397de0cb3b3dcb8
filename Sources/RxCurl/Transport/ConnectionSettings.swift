import RxHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A configuration, resolved for the running libcurl. All transfers of a loop share it.
struct ConnectionSettings {
    /// The value of `CURLOPT_PROXY`. Empty if neither the configuration nor the environment names a proxy, so
    /// that curl does not search the environment for each request.
    let proxy: String?
    /// Whether connections certainly use neither a proxy nor a Unix socket.
    let isDirect: Bool
    /// Whether all connections lead to one proxy, so that libcurl looks up its name alone.
    let isProxyCertain: Bool
    /// The version to ask for; never automatic or HTTP/3, for which ``http3`` stands.
    let httpVersion: CurlTransport.HTTPVersion
    /// When transfers ask for HTTP/3.
    let http3: HTTP3Use
    /// Whether curl is told to pause over HTTP/2 and HTTP/3.
    let pausesHTTP2: Bool
    /// Whether connections stay open after their transfers.
    let keepsConnections: Bool
    /// The value of `CURLOPT_RESOLVE`, if there is one.
    let hostOverrides: StringList?
    /// The value of `CURLOPT_CONNECT_TO`, if there is one.
    let connectTo: StringList?
    /// The reason why the configuration is invalid; `nil` if it is valid. With a reason, no request is sent.
    let configurationError: String?
    /// Whether an easy handle is kept if libcurl has given up its lookup
    /// (``LibcurlFault/freesLookupsUnderWay``).
    let keepsLookups: Bool
    /// The size of the receive buffer in bytes, with room for a whole HTTP/2 head where this is needed
    /// (``LibcurlFault/stallsLongHTTP2Heads``).
    let receiveBufferSize: Int
    /// ``CurlTransport/Configuration/connectionDelay`` in nanoseconds.
    let connectionDelay: UInt64

    init(_ configuration: CurlTransport.Configuration, _ features: LibcurlFeatures) {
        switch configuration.proxy.choice {
        case .none: proxy = ""
        case .server(let url): proxy = url
        case .environment:
            // Those that curl reads.
            let variables = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
            proxy = variables.contains { unsafe getenv($0) != nil } ? nil : ""
        }
        if case .server = configuration.proxy.choice {
            isProxyCertain = configuration.proxy.noProxy?.isEmpty == true
        } else {
            isProxyCertain = false
        }
        isDirect = proxy == "" && configuration.unixSocketPath == nil
        http3 = HTTP3Use(configuration, features, isDirect: isDirect)
        httpVersion = Self.version(configuration.httpVersion, with: features)
        let takesWholeHeads = httpVersion != .http1 && features.has(.stallsLongHTTP2Heads)
        receiveBufferSize = max(configuration.receiveBufferSize, takesWholeHeads ? 136 << 10 : 0)
        pausesHTTP2 = configuration.pausesHTTP2 ?? !features.has(.stallsPausedHTTP2)
        keepsLookups = configuration.dnsOverHTTPS != nil && features.has(.freesLookupsUnderWay)
        connectionDelay = Timeouts.Limit(configuration.connectionDelay).nanoseconds
        keepsConnections = configuration.idleConnectionLifetime >= .seconds(1)
        configurationError = configuration.configurationError
        let overrides = configuration.hostOverrides
        hostOverrides = overrides.isEmpty ? nil : StringList(overrides.map(\.text))
        connectTo = configuration.connectTo.isEmpty ? nil : StringList(configuration.connectTo.map(\.text))
    }

    /// The version to ask for with the running libcurl.
    static func version(
        _ wanted: CurlTransport.HTTPVersion, with features: LibcurlFeatures
    ) -> CurlTransport.HTTPVersion {
        switch wanted {
        case .http1, .http2, .http2PriorKnowledge: return wanted
        case .http3Only: return .http2
        case .automatic, .http3: break
        }
        return features.hasHTTP2 && !features.has(.endsHTTP2BodiesEarly) ? .http2 : .http1
    }
}
