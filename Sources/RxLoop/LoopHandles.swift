internal import CLibuv

/// The libuv handles of a running loop itself.
@safe
struct LoopHandles {
    // Safe: they live from init until close(), which is the last thing that the loop's thread does with them.

    /// Wakes the thread out of its poll.
    let wakeUp: Handle<uv_async_t>
    /// Runs what is posted, each time before the thread polls.
    let beforePoll: Handle<uv_prepare_t>
    /// Keeps the thread from sleeping while something waits for its turn; its callback does nothing.
    let backlog: Handle<uv_idle_t>
    /// Set for the timer that is due next.
    let alarm: Handle<uv_timer_t>
    /// Runs timers that are due already, after the poll.
    let lateAlarm: Handle<uv_check_t>

    /// Makes the handles of a loop that libuv has just initialized. None of them needs a descriptor of its own.
    init(of raw: UnsafeMutablePointer<uv_loop_t>) throws(UVError) {
        unsafe wakeUp = try unsafe Handle { unsafe uv_async_init(raw, $0) { _ in } }
        unsafe beforePoll = try unsafe Handle { unsafe uv_prepare_init(raw, $0) }
        unsafe backlog = try unsafe Handle { unsafe uv_idle_init(raw, $0) }
        unsafe alarm = try unsafe Handle { unsafe uv_timer_init(raw, $0) }
        unsafe lateAlarm = try unsafe Handle { unsafe uv_check_init(raw, $0) }
    }

    /// Tells the callbacks whose handles they are.
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

/// A handle that its loop closes at its end if nobody has.
protocol LoopHandle: AnyObject {
    /// Stops for good. Closing twice is fine.
    func close()
}
