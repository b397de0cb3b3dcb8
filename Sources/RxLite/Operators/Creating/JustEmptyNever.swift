extension Observable {
    /// One value, then the end. It waits while the subscriber is paused.
    ///
    /// ```
    /// just(1)
    ///         (1|)
    /// ```
    @inlinable
    public static func just(_ value: Element) -> Observable {
        Observable { observer in observer.sendOnly(value) }
    }
}

extension Observable where Failure == Never {
    /// One value, then the end. Cannot fail, unless the context requires an error type.
    @inlinable
    public static func just(_ value: Element) -> Observable {
        Observable { observer in observer.sendOnly(value) }
    }
}

extension Observer {
    /// Sends one value and the end, on the lane's scheduler.
    @inlinable
    func sendOnly(_ value: Element) {
        guard scope.lane.isOnScheduler else {
            return scope.lane.enqueue { [self] in emitOnly(value) }
        }
        emitOnly(value)
    }

    /// Sends one value and the end. Each waits while the subscriber is paused.
    @inlinable
    package func emitOnly(_ value: Element) {
        guard scope.isOpen else { return }
        guard !scope.isPaused else { return scope.afterPause { [self] in emitOnly(value) } }
        next(value)
        guard scope.isOpen else { return }
        guard !scope.isPaused else { return scope.afterPause { [self] in finish() } }
        finish()
    }

    /// Sends a value and ends, unless the subscriber cancels on the value.
    @inlinable
    func finish(with value: Element) {
        next(value)
        if scope.isOpen { finish() }
    }

    /// Sends the only event of a source that produced it elsewhere, from inside the lane. It waits while the subscriber
    /// is paused.
    @inlinable
    package func emitOnly(_ result: Result<Element, Failure>) {
        switch result {
        case .success(let value): emitOnly(value)
        case .failure(let error): scope.whenRunning { [self] in fail(error) }
        }
    }
}

extension Observable {
    /// No value, and an immediate end.
    ///
    /// ```
    /// empty()
    ///         |
    /// ```
    @inlinable
    public static func empty() -> Observable {
        Observable { observer in observer.scope.perform { observer.finish() } }
    }
}

extension Observable {
    /// No value and no end; runs until it is cancelled.
    ///
    /// ```
    /// never()
    ///         ------
    /// ```
    @inlinable
    public static func never() -> Observable {
        Observable { _ in }
    }
}

extension Observable {
    /// No value, and an immediate error.
    ///
    /// ```
    /// fail(error)
    ///             #
    /// ```
    @inlinable
    public static func fail(_ error: Failure) -> Observable {
        Observable { observer in observer.scope.perform { observer.fail(error) } }
    }
}
