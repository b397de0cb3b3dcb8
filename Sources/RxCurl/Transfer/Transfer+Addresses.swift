internal import CLibcurl
internal import RxHTTP

extension Transfer {
    /// Whether a connection to the address may be made; if not, the address is recorded for the error.
    func allows(_ address: UnsafePointer<curl_sockaddr>) -> Bool {
        guard multi.configuration.forbidsPrivateAddresses else { return true }
        // The address begins at the last member; its length is in the structure.
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return false }
        let start = unsafe UnsafeRawPointer(address) + offset
        let (family, count) = unsafe (address.pointee.family, Int(address.pointee.addrlen))
        // A Unix socket was configured by its path.
        guard let address = unsafe IPAddress(family: family, start, count: count) else {
            return multi.configuration.unixSocketPath != nil
        }
        return allows(address)
    }

    /// Whether the connection on which the request is about to be sent leads to an allowed address.
    func allows(_ endpoints: ConnectionEndpoints) -> Bool {
        guard multi.configuration.forbidsPrivateAddresses, let text = endpoints.address else { return true }
        guard let address = IPAddress(text) else { return multi.configuration.unixSocketPath != nil }
        return allows(address)
    }

    private func allows(_ address: IPAddress) -> Bool {
        if address.isPublic { return true }
        attempts.forbidden = address
        return false
    }

    /// The error for a forbidden address, if this is the reason why there is no connection.
    func forbiddenAddress(_ cause: CurlError) -> NetworkError? {
        guard let forbidden = attempts.forbidden, !state.isSent else { return nil }
        switch cause.code {
        case CURLE_COULDNT_CONNECT, CURLE_ABORTED_BY_CALLBACK:
            let message = "\(forbidden) is not a public address, as forbidsPrivateAddresses requires"
            return error(.forbiddenAddress, message, cause)
        default: return nil
        }
    }
}
