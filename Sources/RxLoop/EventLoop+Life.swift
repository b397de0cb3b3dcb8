internal import CLibuv
public import RxLite
import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension EventLoop {
    /// Registers what must be closed before the loop ends. Hooks run on the loop, last registered first, those that
    /// other hooks register after them. Cancelling what this returns takes the hook back; that works from any thread.
    ///
    /// After ``shutDown()`` the hook is dropped. The loop closes handles that are still open after all hooks.
    public func onShutdown(_ hook: @escaping @Sendable () -> Void) -> any Cancellable {
        let id = Self.latestHook.add(1, ordering: .relaxed).newValue
        hooks.withLock { $0?[id] = hook }
        return ShutdownHook(loop: self, id: id)
    }

    /// Ends the loop and waits until its thread is gone.
    ///
    /// Work scheduled before this call still runs; then the shutdown hooks; then each pending timer, early, so that its
    /// waiters see the end; then the work that these have scheduled. Jobs of ``work(_:)`` that are under way are waited
    /// for. Only work that schedules more without end is dropped.
    ///
    /// Afterwards the loop blocks no caller: ``isCurrent`` is true everywhere, ``schedule(_:)`` runs work on the thread
    /// that calls it, and `ActorScheduler.shared` keeps the time. Streams of the loop so still come to their end.
    /// Calling this again does nothing, or waits for the call that is under way.
    ///
    /// From any thread but the loop's own, from within subscriptions too.
    public func shutDown() {
        precondition(!ownsCurrentThread, "an event loop cannot wait for its own end")
        let unused = life.withLock { life -> [UInt64: @Sendable () -> Void]? in
            defer {
                life = .ended
                isNew.store(false, ordering: .releasing)
                startFailure.withLock { $0 = nil }
            }
            switch life {
            case .ended: return nil
            case .new: return hooks.withLock { $0.take() }
            case .running(var thread):
                _ = queue { [self] in unsafe uv_stop(raw) }
                unsafe _ = uv_thread_join(&thread)
                return nil
            }
        }
        // Nothing was opened on a loop that never ran. Released outside the lock.
        _ = unused
    }

    /// The life of the thread.
    func run() {
        owner.store(Self.currentThread, ordering: .relaxed)
        unsafe rxuv_name_current_thread(name)
        if let handles {
            unsafe _ = uv_prepare_start(handles.beforePoll.pointer) { prepare in
                unsafe RxLoop.owner(of: prepare, as: EventLoop.self)?.drainInbox()
            }
        }
        unsafe _ = uv_run(raw, UV_RUN_DEFAULT)
        closeEverything()
        owner.store(0, ordering: .relaxed)
    }

    /// How many rounds of work that begets work are run before what it begets is dropped.
    private static let lastRounds = 10_000

    private func closeEverything() {
        // Hooks first: transfers are to end with the shutdown, not with a timeout that comes early.
        runHooks()
        isEnding = true
        while let entry = timers.popFirst(dueAt: .max) { entry.run() }
        var rounds = 0
        repeat {
            drainInbox()
            // Whoever has posted since then may have registered a hook before.
            runHooks()
            // What is in the thread pool comes to its end by itself; no more is taken since `isEnding`.
            if jobCount > 0 { unsafe _ = uv_run(raw, UV_RUN_ONCE) }
            rounds += 1
            dropsOwnWork = rounds >= Self.lastRounds
        } while jobCount > 0 || !batch.isEmpty || hasHooks && !dropsOwnWork || !inbox.closeIfEmpty()
        // Hooks that came in between have nothing to close, since what they were for was not posted.
        let unused = hooks.withLock { $0.take() }
        _ = unused

        handles?.close()
        handles = nil
        unsafe uv_walk(
            raw,
            { handle, _ in
                guard let handle = unsafe handle, unsafe uv_is_closing(handle) == 0 else { return }
                let owner = unsafe uv_handle_get_data(handle).map {
                    unsafe Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue()
                }
                guard let open = owner as? any LoopHandle else {
                    let kind = unsafe uv_handle_type_name(uv_handle_get_type(handle))
                    let name = unsafe kind.map { unsafe String(cString: $0) } ?? "handle"
                    // Reached only by a mistake in this module: all handles that it gives away have an owner.
                    preconditionFailure("a \(name) belongs to nobody")
                }
                open.close()
            }, nil)
        unsafe _ = uv_run(raw, UV_RUN_DEFAULT)
        let status = unsafe uv_loop_close(raw)
        precondition(status == 0, "uv_loop_close says \(UVError(rawValue: status)): something is still open")
    }

    private var hasHooks: Bool { hooks.withLock { $0?.isEmpty == false } }

    private func runHooks() {
        let all = hooks.withLock { hooks in
            let all = hooks?.sorted { $0.key > $1.key } ?? []
            hooks = [:]
            return all
        }
        for (_, hook) in all { hook() }
    }

    /// Names the calling thread; never 0.
    static var currentThread: UInt {
        #if canImport(Glibc)
            UInt(pthread_self())
        #else
            unsafe UInt(bitPattern: pthread_self())
        #endif
    }

    private static let latestHook = Atomic<UInt64>(0)

    /// Once per process, and only where the app has not said otherwise.
    static let ignoringBrokenPipes: Void = {
        var current = sigaction()
        unsafe sigaction(SIGPIPE, nil, &current)
        #if canImport(Glibc)
            let handler = unsafe current.__sigaction_handler.sa_handler
        #else
            let handler = unsafe current.__sigaction_u.__sa_handler
        #endif
        if handler == nil { _ = signal(SIGPIPE, SIG_IGN) }
    }()
}

/// Takes a shutdown hook back.
private struct ShutdownHook: Cancellable {
    let loop: EventLoop
    let id: UInt64

    func cancel() {
        // The hook is released outside the lock.
        let hook = loop.hooks.withLock { $0?.removeValue(forKey: id) }
        _ = hook
    }
}
