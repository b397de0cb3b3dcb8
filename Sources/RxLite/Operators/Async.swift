extension Observable {
    /// The value that an asynchronous closure returns, then the end; or the error it throws. Each subscription runs it
    /// again, in a new task.
    ///
    /// ```swift
    /// let goods = Observable<Goods, StoreError>.async { () throws(StoreError) in try await store.load() }
    /// ```
    ///
    /// ```
    /// async { work }
    ///                ----(1|)     when work has returned
    /// ```
    ///
    /// Cancelling the stream cancels the task; what it returns or throws after that goes nowhere. While the
    /// subscriber is paused the value, or the error, waits. It arrives on the thread that the closure ends on, unless
    /// the stream is part of one with a scheduler.
    @inlinable
    public static func async(
        _ work: @escaping @Sendable () async throws(Failure) -> Element
    ) -> Observable {
        Observable { observer in
            guard observer.scope.isOpen else { return }
            observer.scope.lane.serve {
                let task = Task {
                    let result: Result<Element, Failure>
                    do throws(Failure) { result = .success(try await work()) } catch {
                        result = .failure(error)
                    }
                    observer.scope.enter { observer.emitOnly(result) }
                }
                observer.scope.onClose { task.cancel() }
            }
        }
    }
}
