internal import CLibcurl

extension EasyHandle {
    /// Sets the callbacks, which use the current transfer of the handle. The handle outlives every callback:
    /// it is removed from the multi handle before it is released.
    func setCallbacks(_ multi: Multi) {
        let me = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe note(rxcurl_easy_setopt_write(raw, CURLOPT_WRITEFUNCTION, onWrite), CURLOPT_WRITEFUNCTION)
        unsafe set(CURLOPT_WRITEDATA, me)
        unsafe note(rxcurl_easy_setopt_write(raw, CURLOPT_HEADERFUNCTION, onHeader), CURLOPT_HEADERFUNCTION)
        unsafe set(CURLOPT_HEADERDATA, me)
        unsafe note(rxcurl_easy_setopt_read(raw, CURLOPT_READFUNCTION, onRead), CURLOPT_READFUNCTION)
        unsafe set(CURLOPT_READDATA, me)
        unsafe note(rxcurl_easy_setopt_seek(raw, CURLOPT_SEEKFUNCTION, onSeek), CURLOPT_SEEKFUNCTION)
        unsafe set(CURLOPT_SEEKDATA, me)
        unsafe note(
            rxcurl_easy_setopt_xferinfo(raw, CURLOPT_XFERINFOFUNCTION, onProgress), CURLOPT_XFERINFOFUNCTION)
        unsafe set(CURLOPT_XFERINFODATA, me)
        unsafe note(
            rxcurl_easy_setopt_prereq(raw, CURLOPT_PREREQFUNCTION, onRequest), CURLOPT_PREREQFUNCTION)
        unsafe set(CURLOPT_PREREQDATA, me)
        unsafe note(
            rxcurl_easy_setopt_lookup(raw, CURLOPT_RESOLVER_START_FUNCTION, onLookup),
            CURLOPT_RESOLVER_START_FUNCTION)
        unsafe set(CURLOPT_RESOLVER_START_DATA, me)
        unsafe note(
            rxcurl_easy_setopt_opensocket(raw, CURLOPT_OPENSOCKETFUNCTION, onOpenSocket),
            CURLOPT_OPENSOCKETFUNCTION)
        unsafe set(CURLOPT_OPENSOCKETDATA, me)
        unsafe note(
            rxcurl_easy_setopt_debug(raw, CURLOPT_DEBUGFUNCTION, onText), CURLOPT_DEBUGFUNCTION)
        unsafe set(CURLOPT_DEBUGDATA, me)
        // A connection keeps this pointer longer than the transfer that opened it, so it points to the multi
        // handle.
        let sockets = unsafe multi.context
        unsafe note(
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

    /// Notes that a name has been looked up for the handle behind a callback's context.
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
        transfer.noteCloseNotify()
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
