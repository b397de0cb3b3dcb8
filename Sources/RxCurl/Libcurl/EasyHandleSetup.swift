import CLibcurl

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
        // Redirects are followed above the transport.
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_HTTP09_ALLOWED, 0)
        // ``Transfer/receiveLine(_:)`` would take the head of a response to `CONNECT` for the server's.
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
        Int(tls.requiresTLS13 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2)
    }

    /// Whole seconds, 0 for less than one, limited to the range of an `int`.
    private static func seconds(_ duration: Duration) -> Int {
        Int(clamping: min(max(0, duration.components.seconds), Int64(Int32.max)))
    }
}

extension EasyHandle {
    /// Sets the callbacks, which use the current transfer of the handle. The handle outlives every callback:
    /// it is removed from the multi handle before it is released.
    func setCallbacks(_ multi: Multi) {
        let me = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe record(rxcurl_easy_setopt_write(raw, CURLOPT_WRITEFUNCTION, onWrite), CURLOPT_WRITEFUNCTION)
        unsafe set(CURLOPT_WRITEDATA, me)
        unsafe record(rxcurl_easy_setopt_write(raw, CURLOPT_HEADERFUNCTION, onHeader), CURLOPT_HEADERFUNCTION)
        unsafe set(CURLOPT_HEADERDATA, me)
        unsafe record(rxcurl_easy_setopt_read(raw, CURLOPT_READFUNCTION, onRead), CURLOPT_READFUNCTION)
        unsafe set(CURLOPT_READDATA, me)
        unsafe record(rxcurl_easy_setopt_seek(raw, CURLOPT_SEEKFUNCTION, onSeek), CURLOPT_SEEKFUNCTION)
        unsafe set(CURLOPT_SEEKDATA, me)
        unsafe record(
            rxcurl_easy_setopt_xferinfo(raw, CURLOPT_XFERINFOFUNCTION, onProgress), CURLOPT_XFERINFOFUNCTION)
        unsafe set(CURLOPT_XFERINFODATA, me)
        unsafe record(
            rxcurl_easy_setopt_prereq(raw, CURLOPT_PREREQFUNCTION, onRequest), CURLOPT_PREREQFUNCTION)
        unsafe set(CURLOPT_PREREQDATA, me)
        unsafe record(
            rxcurl_easy_setopt_lookup(raw, CURLOPT_RESOLVER_START_FUNCTION, onLookup),
            CURLOPT_RESOLVER_START_FUNCTION)
        unsafe set(CURLOPT_RESOLVER_START_DATA, me)
        unsafe record(
            rxcurl_easy_setopt_opensocket(raw, CURLOPT_OPENSOCKETFUNCTION, onOpenSocket),
            CURLOPT_OPENSOCKETFUNCTION)
        unsafe set(CURLOPT_OPENSOCKETDATA, me)
        unsafe record(
            rxcurl_easy_setopt_debug(raw, CURLOPT_DEBUGFUNCTION, onText), CURLOPT_DEBUGFUNCTION)
        unsafe set(CURLOPT_DEBUGDATA, me)
        // A connection keeps this pointer longer than the transfer that opened it, so it points to the multi
        // handle.
        let sockets = unsafe multi.context
        unsafe record(
            rxcurl_easy_setopt_closesocket(raw, CURLOPT_CLOSESOCKETFUNCTION, onCloseSocket),
            CURLOPT_CLOSESOCKETFUNCTION)
        unsafe set(CURLOPT_CLOSESOCKETDATA, sockets)
    }

    /// Returns the result of `body` for the transfer behind a callback's context; `absent` if there is none.
    ///
    /// Nothing is retained: the handle keeps its transfer while curl calls, because commands wait until curl
    /// has returned.
    @inline(__always)
    static func callback<Result>(
        _ context: UnsafeMutableRawPointer?, else absent: Result, _ body: (Transfer) -> Result
    ) -> Result {
        guard let context = unsafe context else { return absent }
        let transfer = unsafe Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef {
            unsafe $0.carried
        }
        guard let transfer = unsafe transfer else { return absent }
        return unsafe transfer._withUnsafeGuaranteedRef(body)
    }

    /// Records that a name has been looked up for the handle behind a callback's context.
    static func endLookup(_ context: UnsafeMutableRawPointer?) {
        guard let context = unsafe context else { return }
        unsafe Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { handle in
            if handle.lookup != nil { handle.multi.endLookup(of: handle) }
        }
    }
}

private let onWrite: curl_write_callback = { bytes, size, count, context in
    unsafe EasyHandle.callback(context, else: Int(CURL_WRITEFUNC_ERROR)) { transfer in
        let chunk = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
        return switch unsafe transfer.receiveChunk(chunk) {
        case .taken: size * count
        case .kept: Int(CURL_WRITEFUNC_PAUSE)
        case .refused: Int(CURL_WRITEFUNC_ERROR)
        }
    }
}

private let onHeader: curl_write_callback = { bytes, size, count, context in
    unsafe EasyHandle.callback(context, else: Int(CURL_WRITEFUNC_ERROR)) { transfer in
        let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
        return unsafe transfer.receiveLine(line) ? size * count : Int(CURL_WRITEFUNC_ERROR)
    }
}

private let onRead: curl_read_callback = { bytes, size, count, context in
    unsafe EasyHandle.callback(context, else: Int(CURL_READFUNC_ABORT)) { transfer in
        let buffer = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
        return switch unsafe transfer.readContent(into: buffer) {
        case .bytes(let count): count
        case .none: Int(CURL_READFUNC_PAUSE)
        case .end: 0
        }
    }
}

private let onSeek: curl_seek_callback = { context, offset, origin in
    unsafe EasyHandle.callback(context, else: CURL_SEEKFUNC_FAIL) { transfer in
        let isDone = origin == SEEK_SET && offset == 0 && transfer.rewindContent()
        return isDone ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
    }
}

private let onText: curl_debug_callback = { _, kind, bytes, count, context in
    guard kind == CURLINFO_TEXT else { return 0 }
    return unsafe EasyHandle.callback(context, else: 0) { transfer in
        if let notice = unsafe HTTP2Notice(UnsafeRawBufferPointer(start: bytes, count: count)) {
            transfer.receive(notice)
        }
        return 0
    }
}

private let onProgress: curl_xferinfo_callback = { context, _, _, _, sent in
    unsafe EasyHandle.callback(context, else: 0) { transfer in
        transfer.recordCloseNotify()
        if sent > 0 { transfer.reportUpload() }
        return 0
    }
}

private let onLookup: curl_resolver_start_callback = { _, _, context in
    unsafe EasyHandle.callback(context, else: 1) { transfer in
        transfer.multi.beginLookup(for: transfer) ? 0 : 1
    }
}

private let onRequest: curl_prereq_callback = { context, address, _, port, localPort in
    unsafe EasyHandle.callback(context, else: CURL_PREREQFUNC_ABORT) { transfer in
        let known = unsafe transfer.multi.recent.addresses.read(address)
        // libcurl reports only the first 45 bytes of a path (`MAX_IPADR_LEN`).
        let endpoints = ConnectionEndpoints(
            address: transfer.multi.configuration.unixSocketPath ?? known, port: Int(port),
            localPort: Int(localPort))
        return transfer.willSend(to: endpoints) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }
}
