/// Easy handles that wait for their next transfer; the one used last is taken first, because it is warm.
struct EasyHandlePool {
    private var idle: [EasyHandle] = []
    private static let capacity = 256

    mutating func take() -> EasyHandle? { idle.popLast() }

    /// Keeps `handle`, or releases it if the pool is full.
    mutating func give(_ handle: EasyHandle) {
        if idle.count < Self.capacity { idle.append(handle) }
    }

    mutating func removeAll() { idle = [] }
}
