extension Observable {
    /// One value, then the end.
    @inlinable
    public static func just(_ value: Element) -> Observable {
        Observable { observer in observer.start(with: value) }
    }
}

extension Observable where Failure == Never {
    /// One value, then the end. Cannot fail, where the context does not say otherwise.
    @inlinable
    public static func just(_ value: Element) -> Observable {
        Observable { observer in observer.start(with: value) }
    }
}

extension Observer {
    @inlinable
    func start(with value: Element) {
        scope.perform { finish(with: value) }
    }

    /// Sends a value and ends, unless the value makes the subscriber leave.
    @inlinable
    func finish(with value: Element) {
        next(value)
        if scope.isOpen { finish() }
    }
}
