extension Observable {
    /// All values, once the stream has ended well. When the task is cancelled the stream is too, and those
    /// that came until then are returned.
    public func collect() async throws(Failure) -> [Element] {
        var collected: [Element] = []
        for try await value in values(buffering: .suspend(high: 256, low: 64)) { collected.append(value) }
        return collected
    }
}
