import Synchronization

/// Captures the context of subscriptions; `nil` until somebody asks for it.
private let capture = Mutex<(@Sendable () -> (any AnyObject & Sendable)?)?>(nil)
private let isCapturing = Atomic<Bool>(false)

extension Lane {
    /// The context of a subscription: a value of the task, or thread, that subscribes. It stays with the subscription
    /// through all schedulers and loops, where no value of a task is left.
    typealias Context = any AnyObject & Sendable

    /// From now on, captures the context of each subscription by `context`. The last call applies, for the whole
    /// process.
    package static func captureContext(_ context: @escaping @Sendable () -> (any AnyObject & Sendable)?) {
        capture.withLock { $0 = context }
        isCapturing.store(true, ordering: .releasing)
    }

    /// The context of a subscription that begins here. Without a call of ``captureContext(_:)`` it costs one read.
    static var currentContext: Context? {
        guard isCapturing.load(ordering: .acquiring) else { return nil }
        return capture.withLock { $0 }?()
    }
}
