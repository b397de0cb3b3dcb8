internal import CLibuv

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
