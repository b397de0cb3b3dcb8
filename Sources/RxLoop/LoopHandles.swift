internal import CLibuv

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

    /// Sets the loop that the callbacks find.
    func setOwner(_ loop: EventLoop) {
        unsafe beforePoll.setOwner(loop)
        unsafe alarm.setOwner(loop)
        unsafe lateAlarm.setOwner(loop)
    }

    func close() {
        unsafe wakeUp.close()
        unsafe beforePoll.close()
        unsafe backlog.close()
        unsafe alarm.close()
        unsafe lateAlarm.close()
    }
}

/// A handle that its loop closes at its end if it is still open.
protocol LoopHandle: AnyObject {
    /// Stops for good. Closing twice is fine.
    func close()
}
