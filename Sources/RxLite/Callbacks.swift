/// A closure stored in a collection. A bare closure would be wrapped in another, which is allocated.
@usableFromInline
struct Callback: Sendable {
    @usableFromInline let call: @Sendable () -> Void

    @inlinable
    init(call: @escaping @Sendable () -> Void) { self.call = call }
}

/// The callbacks of a scope for one occasion, in order. The first is stored separately, because most scopes
/// have no other.
struct Callbacks {
    private var first: (@Sendable () -> Void)?
    private var later: [Callback] = []

    mutating func append(_ callback: @escaping @Sendable () -> Void) {
        if first == nil { first = callback } else { later.append(Callback(call: callback)) }
    }

    mutating func popLast() -> (@Sendable () -> Void)? {
        if let callback = later.popLast() { return callback.call }
        defer { first = nil }
        return first
    }

    mutating func removeAll() {
        if first != nil { self = Callbacks() }
    }

    func forEach(_ body: (@Sendable () -> Void) -> Void) {
        if let first { body(first) }
        for callback in later { body(callback.call) }
    }
}
