extension Observable {
    /// Runs `action` once for each subscription: after its end has been delivered, or when it is cancelled.
    ///
    /// ```
    ///                    --1--2--|
    /// finally { action }
    ///                    --1--2--|action
    /// ```
    ///
    /// An operator below that continues after the end (`catch`, `retry`, `concat` …) closes the ended stream
    /// before it starts another; `action` runs then. Of several such actions, the one nearest to the source
    /// runs first; teardowns of the source itself run before them all.
    ///
    /// ```swift
    /// upload.finally { progressBar.hide() }
    /// ```
    @inlinable
    public func finally(_ action: @escaping @Sendable () -> Void) -> Observable {
        lift { observer in
            observer.scope.onClose(action)
            return observer
        }
    }
}
