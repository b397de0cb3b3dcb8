/// Easy handles that wait for their next transfer; the one used last comes first, being warm.
struct EasyHandlePool {
    private var idle: [EasyHandle] = []
    /// How many are kept.
    private static let capacity = 256

    mutating func take() -> EasyHandle? { idle.popLast() }

    /// Keeps `handle`, or lets it go if there are enough.
    mutating func give(_ handle: EasyHandle) {
        if idle.count < Self.capacity { idle.append(handle) }
    }

    mutating func removeAll() { idle = [] }
}
