/// Easy handles that wait for their next transfer; the one used last is taken first, because it is warm.
struct EasyHandlePool {
    private var idle: [EasyHandle] = []
    /// The maximum number of idle handles; 0 if a handle must not be used twice
    /// (``LibcurlFault/readsFreedHeaders``).
    private let capacity: Int

    init(for features: LibcurlFeatures) { capacity = features.has(.readsFreedHeaders) ? 0 : 256 }

    mutating func take() -> EasyHandle? { idle.popLast() }

    /// Keeps `handle`, or releases it if the pool is full.
    mutating func give(_ handle: EasyHandle) {
        if idle.count < capacity { idle.append(handle) }
    }

    mutating func removeAll() { idle = [] }
}
