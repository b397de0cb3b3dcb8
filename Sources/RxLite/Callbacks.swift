/// A closure, for a collection to keep. A bare one would be wrapped in another, which is allocated.
@usableFromInline
struct Callback: Sendable {
    @usableFromInline let call: @Sendable () -> Void

    @inlinable
    init(call: @escaping @Sendable () -> Void) { self.call = call }
}

/// What a scope calls on one occasion, in order: the first apart, since most scopes have no other.
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
