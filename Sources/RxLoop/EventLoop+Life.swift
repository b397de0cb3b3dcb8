internal import CLibuv
public import RxLite
import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension EventLoop {
    /// Registers what must be closed before the loop ends. Hooks run on the loop, last registered first.
    /// Cancelling what this returns takes the hook back; that works from any thread.
    ///
    /// After ``shutDown()`` the hook is dropped.
    public func onShutdown(_ hook: @escaping @Sendable () -> Void) -> any Cancellable {
        let id = Self.latestHook.add(1, ordering: .relaxed).newValue
        hooks.withLock { $0?[id] = hook }
        return ShutdownHook(loop: self, id: id)
    }

    /// Ends the loop and waits until its thread is gone.
    ///
    /// What was scheduled before this call still runs; then the shutdown hooks do; then each pending timer,
    /// before its time, so that whatever waits for it meets the end; then what all of these have scheduled. Jobs
    /// of ``work(_:)`` that are under way are waited for.
    /// Only work that schedules more without end is dropped.
    ///
    /// Afterwards the loop holds nobody up: ``isCurrent`` is true everywhere, ``schedule(_:)`` runs work on the
    /// thread that calls it, and `ActorScheduler.shared` keeps the time. Streams of the loop so still come to
    /// their end. Calling this again does nothing, or waits for the call that is under way.
    ///
    /// From any thread but the loop's own, from within subscriptions too.
    public func shutDown() {
        precondition(!ownsCurrentThread, "an event loop cannot wait for its own end")
        thread.withLock { thread in
            guard var running = thread else { return }
            _ = post { [self] in unsafe uv_stop(raw) }
            unsafe _ = uv_thread_join(&running)
            thread = nil
        }
    }

    func start() {
        unsafe beforePoll.setOwner(self)
        unsafe alarm.setOwner(self)
        var created = uv_thread_t()
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        let status = unsafe uv_thread_create(
            &created,
            { context in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue().run()
            }, context)
        guard status == 0 else {
            // uv_thread_create fails only where the system has no thread left: nothing could ever be delivered.
            fatalError("no thread for an event loop: \(UVError(rawValue: status))")
        }
        thread.withLock { $0 = created }
    }

    /// The life of the thread.
    private func run() {
        owner.store(Self.currentThread, ordering: .relaxed)
        unsafe rxuv_name_current_thread(name)
        unsafe _ = uv_prepare_start(beforePoll.pointer) { prepare in
            unsafe RxLoop.owner(of: prepare, as: EventLoop.self)?.drainInbox()
        }
        unsafe _ = uv_run(raw, UV_RUN_DEFAULT)
        closeEverything()
        owner.store(0, ordering: .relaxed)
    }

    /// How many rounds of work that begets work are run before what it begets is dropped.
    private static let lastRounds = 100_000

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
        } while jobCount > 0 || !inbox.closeIfEmpty()
        // Hooks that came in between have nothing to close, since what they were for was not posted.
        let unused = hooks.withLock { $0.take() }
        _ = unused

        unsafe wakeUp.close()
        unsafe beforePoll.close()
        unsafe backlog.close()
        unsafe alarm.close()
        unsafe uv_walk(
            raw,
            { handle, _ in
                guard let handle = unsafe handle, unsafe uv_is_closing(handle) == 0 else { return }
                let kind = unsafe uv_handle_type_name(uv_handle_get_type(handle))
                let name = unsafe kind.map { unsafe String(cString: $0) } ?? "handle"
                // Reached only by a mistake of this library: whoever opens a handle registers its shutdown hook.
                preconditionFailure("a \(name) was not closed by its shutdown hook")
            }, nil)
        unsafe _ = uv_run(raw, UV_RUN_DEFAULT)
        let status = unsafe uv_loop_close(raw)
        precondition(status == 0, "uv_loop_close says \(UVError(rawValue: status)): something is still open")
    }

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
