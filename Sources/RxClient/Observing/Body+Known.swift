import RxHTTP

extension Body {
    /// The bytes of the body, if they are in memory.
    var known: [UInt8] {
        guard case .bytes(let bytes) = self else { return [] }
        return bytes
    }
}
