internal import CLibcurl

extension EasyHandle {
    /// Sets what is the same for all transfers of `multi`.
    func setConstants(_ multi: Multi) {
        unsafe set(CURLOPT_ERRORBUFFER, errorBuffer)
        unsafe set(CURLOPT_PRIVATE, Unmanaged.passUnretained(self).toOpaque())
        unsafe set(CURLOPT_CURLU, UnsafeRawPointer(address))
        setCallbacks(multi)
        set(CURLOPT_NOSIGNAL, 1)
        // Giving up on a name must not wait for the resolver's thread.
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_HTTP09_ALLOWED, 0)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(CURLOPT_NOPROGRESS, 1)
        set(CURLOPT_BUFFERSIZE, multi.configuration.receiveBufferSize)
        setVersion(multi)
        setConnections(multi)
        setTLS(multi.configuration.tls)
        if let share = unsafe multi.share { unsafe set(CURLOPT_SHARE, share) }
    }

    private func setVersion(_ multi: Multi) {
        switch multi.httpVersion {
        case .automatic, .http1: set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        case .http2:
            set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
            set(CURLOPT_PIPEWAIT, 1)
        case .http2PriorKnowledge:
            set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
            set(CURLOPT_PIPEWAIT, 1)
        }
    }

    private func setConnections(_ multi: Multi) {
        let configuration = multi.configuration
        set(CURLOPT_MAXAGE_CONN, Self.seconds(configuration.idleConnectionLifetime))
        if let lifetime = configuration.connectionLifetime {
            set(CURLOPT_MAXLIFETIME_CONN, max(1, Self.seconds(lifetime)))
        }
        set(CURLOPT_DNS_CACHE_TIMEOUT, Self.seconds(configuration.nameLifetime))
        if let overrides = multi.hostOverrides { unsafe set(CURLOPT_RESOLVE, overrides.raw) }
        switch configuration.addressFamily {
        case .any: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_WHATEVER))
        case .ipv4: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
        case .ipv6: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
        }
        set(CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, Self.milliseconds(configuration.happyEyeballsDelay))
        if let interface = configuration.networkInterface { set(CURLOPT_INTERFACE, interface) }
        if let path = configuration.unixSocketPath { set(CURLOPT_UNIX_SOCKET_PATH, path) }
        if let proxy = multi.proxy { set(CURLOPT_PROXY, proxy) }
        // Unless this is set curl looks for exceptions in the environment, with every request.
        if let exceptions = configuration.proxy.noProxy { set(CURLOPT_NOPROXY, exceptions) }
    }

    /// An https proxy is held to the same as a server, but for the pin and the client's certificate.
    private func setTLS(_ tls: TLSConfiguration) {
        let oldest = tls.minimumVersion == .tls13 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2
        for option in [CURLOPT_SSLVERSION, CURLOPT_PROXY_SSLVERSION] { set(option, oldest) }
        for option in [CURLOPT_SSL_VERIFYPEER, CURLOPT_PROXY_SSL_VERIFYPEER] {
            set(option, tls.verifiesServer ? 1 : 0)
        }
        for option in [CURLOPT_SSL_VERIFYHOST, CURLOPT_PROXY_SSL_VERIFYHOST] {
            set(option, tls.verifiesServer ? 2 : 0)
        }
        if let path = tls.caBundlePath {
            for option in [CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO] { set(option, path) }
        }
        if let key = tls.pinnedPublicKey { set(CURLOPT_PINNEDPUBLICKEY, key) }
        if let path = tls.clientCertificatePath { set(CURLOPT_SSLCERT, path) }
        if let path = tls.clientKeyPath { set(CURLOPT_SSLKEY, path) }
        if let password = tls.clientKeyPassword { set(CURLOPT_KEYPASSWD, password) }
    }

    /// Whole seconds, 0 for less than one, in the range of an `int`.
    private static func seconds(_ duration: Duration) -> Int {
        Int(clamping: min(max(0, duration.components.seconds), Int64(Int32.max)))
    }
}
