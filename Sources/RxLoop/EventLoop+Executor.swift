extension EventLoop: SerialExecutor, TaskExecutor {
    /// Runs a job of an actor or task on the loop.
    ///
    /// A job that arrives after ``shutDown()`` could never run and its task never end, so it stops the
    /// process; let actors and tasks end before their loop.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isAccepted = post { [self] in
            unsafe job.runSynchronously(
                isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        }
        precondition(isAccepted, "a task or an actor still uses an event loop that was shut down")
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
