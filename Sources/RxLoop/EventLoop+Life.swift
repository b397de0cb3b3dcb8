internal import CLibuv
public import RxLite
import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

extension EventLoop {
    /// Registers a hook that closes resources before the loop ends. Hooks run on the loop, the last
    /// registered first; hooks that other hooks register run after these. Cancelling the result removes the
    /// hook, from any thread.
    ///
    /// After ``shutDown()`` the hook is dropped. The loop closes the handles that are still open after all
    /// hooks.
    public func onShutdown(_ hook: @escaping @Sendable () -> Void) -> any Cancellable {
        let id = Self.latestHook.add(1, ordering: .relaxed).newValue
        hooks.withLock { $0?[id] = hook }
        return ShutdownHook(loop: self, id: id)
    }

    /// Ends the loop and waits until its thread has exited.
    ///
    /// Work scheduled before this call still runs; then the shutdown hooks; then each pending timer, early,
    /// so that its waiters see the end; then the work scheduled by these. Running jobs of ``work(_:)`` are
    /// awaited. Work that schedules more work without end is eventually dropped.
    ///
    /// Afterwards the loop blocks no caller: ``isCurrent`` is true on every thread, ``schedule(_:)`` runs
    /// work on the calling thread, and `ActorScheduler.shared` keeps the time. Streams of the loop therefore
    /// still end. Calling this again does nothing, or waits for the call in progress.
    ///
    /// Call it from any thread except the loop's, also within subscriptions, but not from within a job of ``work(_:)``
    /// on this loop, which it would wait for. Both stop the process.
    public func shutDown() {
        precondition(!ownsCurrentThread, "an event loop cannot be shut down on its own thread")
        precondition(
            !jobThreads.withLock { $0.contains(Self.currentThread) },
            "an event loop cannot be shut down from within its own work, which it waits for")
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
        // A loop that never ran has opened nothing. Released outside the lock.
        _ = unused
    }

    /// The body of the loop's thread.
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

    /// The number of rounds of work that schedules more work, after which the rest is dropped.
    private static let lastRounds = 10_000

    private func closeEverything() {
        // Hooks first, so that transfers end with the shutdown and not with an early timeout.
        runHooks()
        isEnding = true
        while let entry = timers.popFirst(dueAt: .max) { entry.run() }
        var rounds = 0
        repeat {
            drainInbox()
            // Work posted since then may have registered a hook before.
            runHooks()
            // Jobs in the thread pool end by themselves; no more are accepted since `isEnding`.
            if jobCount > 0 { unsafe _ = uv_run(raw, UV_RUN_ONCE) }
            rounds += 1
            dropsOwnWork = rounds >= Self.lastRounds
        } while jobCount > 0 || !batch.isEmpty || hasHooks && !dropsOwnWork || !inbox.closeIfEmpty()
        // Hooks registered in between have nothing to close, because their work was not posted.
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
                    // Reached only by a mistake in this module: all handles that it creates have an owner.
                    preconditionFailure("a \(name) has no owner")
                }
                open.close()
            }, nil)
        unsafe _ = uv_run(raw, UV_RUN_DEFAULT)
        let status = unsafe uv_loop_close(raw)
        precondition(status == 0, "uv_loop_close: \(UVError(rawValue: status)): a handle is still open")
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

    /// Identifies the calling thread; never 0.
    static var currentThread: UInt {
        #if canImport(Glibc)
        UInt(pthread_self())
        #else
        unsafe UInt(bitPattern: pthread_self())
        #endif
    }

    private static let latestHook = Atomic<UInt64>(0)

    /// Once per process, and only if the app has not installed a handler.
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

/// Removes a shutdown hook.
private struct ShutdownHook: Cancellable {
    let loop: EventLoop
    let id: UInt64

    func cancel() {
        // The hook is released outside the lock.
        let hook = loop.hooks.withLock { $0?.removeValue(forKey: id) }
        _ = hook
    }
}
