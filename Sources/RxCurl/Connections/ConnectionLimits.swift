import CLibcurl

// How many connections curl may have, and how many of them it may keep. Whoever changes a count that the two functions
// read (`running`, `upgrades`, the detached lookups) calls them again. Who gets a connection is up to
// `ConnectionQueue`.

extension Multi {
    /// Sets curl's limit of connections. The queue does not admit more transfers than connections, so with
    /// this limit curl closes idle connections for new ones and never waits. During a name lookup over HTTPS
    /// there may be two more connections for each request: one for each kind of addresses.
    func limitConnections(_ raw: UnsafeMutableRawPointer) {
        if let limit = configuration.maxConnections {
            let needed = configuration.dnsOverHTTPS == nil ? 1 : 3
            let count = min(max(1, limit), Int(Int32.max) / needed / 2) * needed
            unsafe _ = rxcurl_multi_setopt_long(
                raw, CURLMOPT_MAX_TOTAL_CONNECTIONS,
                count + upgrades.count + lookups.detachedCount * needed)
        }
    }

    /// Sets how many connections curl may keep. curl includes connections in use in this number, so with a
    /// fixed number it would close each one that becomes idle while many are in use. It checks the number
    /// when a connection becomes idle, while the transfer of that connection still counts as running.
    func limitKeptConnections() {
        guard let raw = unsafe raw else { return }
        let count = max(1, configuration.maxIdleConnections + running.count + lookups.detachedCount - 1)
        unsafe _ = rxcurl_multi_setopt_long(raw, CURLMOPT_MAXCONNECTS, count)
    }
}
