extension CurlTransport.Configuration {
    /// The first value that curl would parse differently than intended; `nil` if there is none.
    var flaw: String? {
        if let flaw = hostOverrides.lazy.compactMap(\.flaw).first { return "hostOverrides: \(flaw)" }
        if let flaw = connectTo.lazy.compactMap(\.flaw).first { return "connectTo: \(flaw)" }
        if let flaw = proxy.flaw { return "proxy: \(flaw)" }
        if let url = dnsOverHTTPS, !CheckedURL.isSecure(url) { return "dnsOverHTTPS: it is not an https URL" }
        return nil
    }
}
