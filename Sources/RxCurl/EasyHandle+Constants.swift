internal import CLibcurl

extension EasyHandle {
    /// Sets the options that are the same for all transfers of `multi`.
    func setConstants(_ multi: Multi) {
        unsafe set(CURLOPT_ERRORBUFFER, errorBuffer)
        unsafe set(CURLOPT_PRIVATE, Unmanaged.passUnretained(self).toOpaque())
        unsafe set(CURLOPT_CURLU, UnsafeRawPointer(address))
        setCallbacks(multi)
        set(CURLOPT_NOSIGNAL, 1)
        // Without this, giving up a name lookup would wait for the resolver's thread.
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_HTTP09_ALLOWED, 0)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(CURLOPT_NOPROGRESS, 1)
        set(CURLOPT_BUFFERSIZE, multi.settings.receiveBufferSize)
        setVersion(multi)
        setConnections(multi)
        setTLS(multi.configuration.tls)
        if let share = unsafe multi.share { unsafe set(CURLOPT_SHARE, share) }
    }

    private func setVersion(_ multi: Multi) {
        switch multi.settings.httpVersion {
        case .automatic, .http1: set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        case .http2, .http3, .http3Only: set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        case .http2PriorKnowledge: set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE))
        }
    }

    /// Asks for HTTP/3, or for the version that the transport uses otherwise.
    ///
    /// libcurl prefers an existing, suitable connection of a lower version to a new HTTP/3 connection. A
    /// connection is suitable only with the same TLS settings (`Curl_ssl_conn_config_match`), so a race names
    /// the newest version of TLS, which is the maximum by default anyway.
    func setVersion(_ http3: HTTP3Request, _ multi: Multi) {
        switch http3 {
        case .none: setVersion(multi)
        case .raced: set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_3))
        case .only: set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_3ONLY))
        }
        // Equal to `CURL_SSLVERSION_MAX_TLSv1_3`.
        let newest = http3 == .raced ? Int(CURL_SSLVERSION_TLSv1_3) << 16 : 0
        set(CURLOPT_SSLVERSION, Self.oldestVersion(multi.configuration.tls) | newest)
    }

    private func setConnections(_ multi: Multi) {
        let configuration = multi.configuration
        // 0 means no limit from 8.21 on.
        set(CURLOPT_MAXAGE_CONN, max(1, Self.seconds(configuration.idleConnectionLifetime)))
        if let lifetime = configuration.connectionLifetime {
            set(CURLOPT_MAXLIFETIME_CONN, max(1, Self.seconds(lifetime)))
        }
        set(CURLOPT_DNS_CACHE_TIMEOUT, Self.seconds(configuration.nameLifetime))
        if let overrides = multi.settings.hostOverrides { unsafe set(CURLOPT_RESOLVE, overrides.raw) }
        if let list = multi.settings.connectTo { unsafe set(CURLOPT_CONNECT_TO, list.raw) }
        setNames(configuration)
        switch configuration.addressFamily {
        case .any: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_WHATEVER))
        case .ipv4: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
        case .ipv6: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
        }
        set(CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, Self.milliseconds(configuration.happyEyeballsDelay))
        if let interface = configuration.networkInterface { set(CURLOPT_INTERFACE, interface) }
        if let path = configuration.unixSocketPath { set(CURLOPT_UNIX_SOCKET_PATH, path) }
        if let proxy = multi.settings.proxy { set(CURLOPT_PROXY, proxy) }
        if configuration.proxy.tunnelsHTTP { set(CURLOPT_HTTPPROXYTUNNEL, 1) }
        if let mask = configuration.proxy.authenticationMask { set(CURLOPT_PROXYAUTH, mask) }
        // Without this option, curl searches the environment for exceptions with every request.
        let exceptions = multi.settings.proxy == "" ? "" : configuration.proxy.noProxy
        if let exceptions { set(CURLOPT_NOPROXY, exceptions) }
    }

    /// The lookups are transfers inside curl, on separate easy handles, which inherit from this one the CA
    /// files, but not whether to verify (`doh.c`).
    private func setNames(_ configuration: CurlTransport.Configuration) {
        guard let url = configuration.dnsOverHTTPS else { return }
        set(CURLOPT_DOH_URL, url)
        set(CURLOPT_DOH_SSL_VERIFYPEER, configuration.tls.verifiesServer ? 1 : 0)
        set(CURLOPT_DOH_SSL_VERIFYHOST, configuration.tls.verifiesServer ? 2 : 0)
    }

    /// Applies the settings for servers to an https proxy too, except for the pin and the certificate of the
    /// client.
    private func setTLS(_ tls: TLSConfiguration) {
        for option in [CURLOPT_SSLVERSION, CURLOPT_PROXY_SSLVERSION] { set(option, Self.oldestVersion(tls)) }
        for option in [CURLOPT_SSL_VERIFYPEER, CURLOPT_PROXY_SSL_VERIFYPEER] {
            set(option, tls.verifiesServer ? 1 : 0)
        }
        for option in [CURLOPT_SSL_VERIFYHOST, CURLOPT_PROXY_SSL_VERIFYHOST] {
            set(option, tls.verifiesServer ? 2 : 0)
        }
        if let path = tls.caBundlePath ?? SystemAuthorities.file {
            for option in [CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO] { set(option, path) }
        }
        if let key = tls.pinnedPublicKey { set(CURLOPT_PINNEDPUBLICKEY, key) }
        if let path = tls.clientCertificatePath { set(CURLOPT_SSLCERT, path) }
        if let path = tls.clientKeyPath { set(CURLOPT_SSLKEY, path) }
        if let password = tls.clientKeyPassword { set(CURLOPT_KEYPASSWD, password) }
    }

    private static func oldestVersion(_ tls: TLSConfiguration) -> Int {
        Int(tls.minimumVersion == .tls13 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2)
    }

    /// Whole seconds, 0 for less than one, limited to the range of an `int`.
    private static func seconds(_ duration: Duration) -> Int {
        Int(clamping: min(max(0, duration.components.seconds), Int64(Int32.max)))
    }
}
