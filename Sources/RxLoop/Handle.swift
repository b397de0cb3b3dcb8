import CLibuv

/// A libuv handle in separate memory, which stays valid until libuv has closed it.
///
/// "The memory … MUST be released … after `close_cb` was called" (libuv, `uv_close`).
@safe
struct Handle<Kind> {
    // Safe to hold: the pointer is valid from init until close(), after which the owner does not use it.
    let pointer: UnsafeMutablePointer<Kind>

    /// Allocates the handle; `start` is libuv's init call for it.
    init(_ start: (UnsafeMutablePointer<Kind>) -> Int32) throws(UVError) {
        unsafe pointer = .allocate(capacity: 1)
        let status = unsafe start(pointer)
        if status < 0 {
            unsafe pointer.deallocate()
            throw UVError(rawValue: status)
        }
    }

    /// The handle as libuv's supertype.
    var asHandle: UnsafeMutablePointer<uv_handle_t> {
        unsafe UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: uv_handle_t.self)
    }

    /// Sets the object that libuv's callbacks find; a ``LoopHandle``, since the loop closes open handles at its end.
    /// Not retained: the owner closes the handle before it is released.
    func setOwner(_ owner: AnyObject) {
        unsafe uv_handle_set_data(asHandle, Unmanaged.passUnretained(owner).toOpaque())
    }

    /// `uv_close`; the close callback frees the memory.
    func close() {
        unsafe uv_close(asHandle) { handle in unsafe UnsafeMutableRawPointer(handle)?.deallocate() }
    }
}

/// The owner of a handle, for the handle's callbacks.
///
/// - Parameters:
///   - handle: a handle whose owner is set and has not closed it; after `uv_close` libuv calls only the close
///     callback.
///   - type: the class of that owner. It is not checked.
func owner<Owner: AnyObject, Kind>(
    of handle: UnsafeMutablePointer<Kind>?, as type: Owner.Type
) -> Owner? {
    guard let handle = unsafe handle else { return nil }
    let base = unsafe UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)
    return unsafe uv_handle_get_data(base).map {
        unsafe Unmanaged<Owner>.fromOpaque($0).takeUnretainedValue()
    }
}

extension Handle<uv_timer_t> {
    /// Starts the timer for a deadline in nanoseconds of `uv_hrtime`.
    ///
    /// The deadline must be in the future: libuv before 1.48 runs a timer that is already due, if it is
    /// started from a timer's callback, in the same phase, so that neither sockets nor posted work get their
    /// turn.
    ///
    /// libuv counts whole milliseconds on a cached clock, so the clock is refreshed and the deadline rounded
    /// up in absolute terms: the timer is never early and not needlessly late.
    func start(deadline: UInt64, on loop: EventLoop, _ callback: uv_timer_cb) {
        unsafe uv_update_time(loop.raw)
        let milliseconds = deadline / 1_000_000 + (deadline % 1_000_000 == 0 ? 0 : 1)
        let time = unsafe uv_now(loop.raw)
        unsafe _ = uv_timer_start(pointer, callback, milliseconds > time ? milliseconds - time : 0, 0)
    }
}

/// The libuv handles that a running loop uses itself.
@safe
struct LoopHandles {
    // Safe: valid from init until close(), the thread's last use of them.

    /// Wakes the thread from its poll.
    let wakeUp: Handle<uv_async_t>
    /// Runs posted work before each poll.
    let beforePoll: Handle<uv_prepare_t>
    /// Keeps the thread from sleeping while anything waits for its turn; its callback does nothing.
    let backlog: Handle<uv_idle_t>
    /// Set for the timer that is due next.
    let alarm: Handle<uv_timer_t>
    /// Runs timers that are already due, after the poll.
    let lateAlarm: Handle<uv_check_t>

    /// Creates the handles of a newly initialized loop. None of them needs a descriptor.
    init(of raw: UnsafeMutablePointer<uv_loop_t>) throws(UVError) {
        unsafe wakeUp = try unsafe Handle { unsafe uv_async_init(raw, $0) { _ in } }
        unsafe beforePoll = try unsafe Handle { unsafe uv_prepare_init(raw, $0) }
        unsafe backlog = try unsafe Handle { unsafe uv_idle_init(raw, $0) }
        unsafe alarm = try unsafe Handle { unsafe uv_timer_init(raw, $0) }
        unsafe lateAlarm = try unsafe Handle { unsafe uv_check_init(raw, $0) }
    }

    /// Sets the loop that the callbacks find. It is no ``LoopHandle``; see ``close()``.
    func setOwner(_ loop: EventLoop) {
        unsafe beforePoll.setOwner(loop)
        unsafe alarm.setOwner(loop)
        unsafe lateAlarm.setOwner(loop)
    }

    /// Closes all handles. Must be called before the walk at the end of ``EventLoop/run()``, which stops the process at
    /// an open handle whose owner is no ``LoopHandle``.
    func close() {
        unsafe wakeUp.close()
        unsafe beforePoll.close()
        unsafe backlog.close()
        unsafe alarm.close()
        unsafe lateAlarm.close()
    }
}

/// A handle that its loop closes at its end if it is still open. Its class sets itself as the owner of each
/// libuv handle that it opens; one with another owner, or none, would stop the process then.
protocol LoopHandle: AnyObject {
    /// Stops for good. Closing twice is fine.
    func close()
}
