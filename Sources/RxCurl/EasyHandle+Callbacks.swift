internal import CLibcurl

extension EasyHandle {
    /// Points curl at the transfer of the moment. The handle outlives every callback: it is removed from the
    /// multi handle before it is let go.
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
            rxcurl_easy_setopt_opensocket(raw, CURLOPT_OPENSOCKETFUNCTION, onOpenSocket),
            CURLOPT_OPENSOCKETFUNCTION)
        unsafe set(CURLOPT_OPENSOCKETDATA, me)
        // A connection keeps this beyond the transfer that opened it, so it leads to the multi handle.
        let sockets = unsafe multi.context
        unsafe note(
            rxcurl_easy_setopt_closesocket(raw, CURLOPT_CLOSESOCKETFUNCTION, onCloseSocket),
            CURLOPT_CLOSESOCKETFUNCTION)
        unsafe set(CURLOPT_CLOSESOCKETDATA, sockets)
    }

    /// The transfer behind a callback's context.
    static func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.transfer }
    }
}

private let onWrite: curl_write_callback = { bytes, size, count, context in
    guard let transfer = unsafe EasyHandle.transfer(context) else { return Int(CURL_WRITEFUNC_ERROR) }
    return switch unsafe transfer.receiveChunk(UnsafeRawBufferPointer(start: bytes, count: size * count)) {
    case .taken: size * count
    case .kept: Int(CURL_WRITEFUNC_PAUSE)
    case .refused: Int(CURL_WRITEFUNC_ERROR)
    }
}

private let onHeader: curl_write_callback = { bytes, size, count, context in
    guard let transfer = unsafe EasyHandle.transfer(context),
        unsafe transfer.receiveLine(UnsafeRawBufferPointer(start: bytes, count: size * count))
    else { return Int(CURL_WRITEFUNC_ERROR) }
    return size * count
}

private let onRead: curl_read_callback = { bytes, size, count, context in
    guard let transfer = unsafe EasyHandle.transfer(context) else { return Int(CURL_READFUNC_ABORT) }
    let buffer = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
    return switch unsafe transfer.readContent(into: buffer) {
    case .bytes(let count): count
    case .none: Int(CURL_READFUNC_PAUSE)
    case .end: 0
    }
}

private let onSeek: curl_seek_callback = { context, offset, origin in
    guard let transfer = unsafe EasyHandle.transfer(context), origin == SEEK_SET,
        offset == 0, transfer.rewindContent()
    else { return CURL_SEEKFUNC_FAIL }
    return CURL_SEEKFUNC_OK
}

private let onProgress: curl_xferinfo_callback = { context, _, _, _, sent in
    if sent > 0 { unsafe EasyHandle.transfer(context)?.reportUpload() }
    return 0
}

private let onRequest: curl_prereq_callback = { context, address, _, port, localPort in
    guard let transfer = unsafe EasyHandle.transfer(context) else { return CURL_PREREQFUNC_ABORT }
    let peer = Peer(
        address: unsafe transfer.multi.addresses.read(address), port: Int(port),
        localPort: Int(localPort))
    guard transfer.willSend(to: peer) else { return CURL_PREREQFUNC_ABORT }
    return CURL_PREREQFUNC_OK
}
