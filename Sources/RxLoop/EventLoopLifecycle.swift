import CLibuv
public import RxLite
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

extension EventLoop {
    /// The state of the loop's life.
    enum Life {
        /// Not started yet, or not able to start.
        case new
        /// Running on this thread.
        case running(uv_thread_t)
        /// Shut down.
        case ended
    }

    /// The reason why the loop does not run although it was not shut down: the process had no descriptor or
    /// no thread left. `nil` if it runs, or has ended.
    ///
    /// Until the loop runs, work is done on the calling thread, as after ``shutDown()``. Each piece of posted work
    /// tries to start it again.
    public var startError: UVError? { startFailure.withLock { $0 } }

    /// Creates the loop and starts its thread, unless it is running; false if that fails or the loop has
    /// ended.
    func start() -> Bool {
        life.withLock { life in
            switch life {
            case .running: return true
            case .ended: return false
            case .new: break
            }
            do throws(UVError) {
                life = .running(try makeThread())
            } catch {
                startFailure.withLock { $0 = error }
                return false
            }
            startFailure.withLock { $0 = nil }
            isNew.store(false, ordering: .releasing)
            return true
        }
    }

    private func makeThread() throws(UVError) -> uv_thread_t {
        try Self.checkDescriptors()
        try unsafe UVError.check(uv_loop_init(raw))
        do throws(UVError) {
            handles = try unsafe LoopHandles(of: raw)
        } catch {
            // libuv's init calls for these kinds fail only for invalid arguments.
            preconditionFailure("libuv could not make a handle: \(error)")
        }
        handles?.setOwner(self)
        var created = uv_thread_t()
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        let status = unsafe uv_thread_create(
            &created,
            { context in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue().run()
            }, context)
        guard status == 0 else {
            unsafe Unmanaged<EventLoop>.fromOpaque(context).release()
            // The next ``start()`` initializes the loop again.
            handles?.close()
            handles = nil
            unsafe _ = uv_run(raw, UV_RUN_DEFAULT)
            unsafe _ = uv_loop_close(raw)
            throw UVError(rawValue: status)
        }
        // In time for the end that ``shutDown()`` posts: it waits for the lock that ``start()`` holds.
        inbox.open()
        return created
    }

    /// Throws unless the process has as many descriptors left as libuv needs for a loop.
    ///
    /// For the process's first loop libuv creates a pipe for signals, and calls `abort` if that fails
    /// (`uv__signal_global_init`).
    private static func checkDescriptors() throws(UVError) {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        while opened.count < 8 {
            // Child processes that start meanwhile do not inherit it.
            let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw UVError(rawValue: -errno) }
            opened.append(descriptor)
        }
    }
}

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
        // Not earlier: whoever closes a handle must be on the loop's thread.
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

        // After the inbox is closed, through which other threads use them, and before the walk, which stops
        // the process at a handle whose owner is no ``LoopHandle``.
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

    /// The number of the latest hook; ``runHooks()`` goes by the numbers.
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
