internal import CLibcurl

extension EasyHandle {
    /// Makes curl only connect, through proxies and with TLS; the handle is not used again
    /// (`CURLOPT_CONNECT_ONLY`).
    func setConnectOnly() {
        set(CURLOPT_CONNECT_ONLY, 1)
        // With HTTP/2 in the handshake, the server would expect that version.
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        // A proxy must pass on the bytes of both protocols unseen.
        set(CURLOPT_HTTPPROXYTUNNEL, 1)
        // curl reads nothing from the connection; this is the smallest buffer that it takes.
        set(CURLOPT_BUFFERSIZE, 1024)
    }
}
