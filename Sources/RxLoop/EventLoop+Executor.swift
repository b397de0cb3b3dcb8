extension EventLoop: SerialExecutor, TaskExecutor {
    /// Runs a job of an actor or task that lives on the loop.
    ///
    /// A job that comes after ``shutDown()`` could never run and its task never end, so the process is
    /// stopped; let actors and tasks end before their loop.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isAccepted = post { [self] in
            unsafe job.runSynchronously(
                isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        }
        precondition(isAccepted, "a task or an actor is still using an event loop that was shut down")
    }

    /// The loop as the executor of an actor.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    /// The loop as the preferred executor of a task.
    public func asUnownedTaskExecutor() -> UnownedTaskExecutor {
        unsafe UnownedTaskExecutor(ordinary: self)
    }

    /// Stops the process if the caller is not on the loop.
    public func checkIsolated() { preconditionCurrent() }

    /// Whether the caller is on the loop.
    public func isIsolatingCurrentContext() -> Bool? { ownsCurrentThread }
}
