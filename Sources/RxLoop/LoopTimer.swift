internal import CLibuv

/// A one-shot timer that is set anew many times (`uv_timer_t`).
///
/// Only on the loop. Moving the time forward, which is what mostly happens to a timeout, costs no call into
/// libuv: the handle stays set for the earlier time and goes on waiting when that comes.
@safe
public final class LoopTimer {
    private var handle: Handle<uv_timer_t>?
    private let loop: EventLoop
    private let onFire: () -> Void
    /// When to fire, in nanoseconds of `uv_hrtime`.
    private var deadline: UInt64?
    /// What the handle is set for, if it is; never later than `deadline`.
    private var armed: UInt64?

    /// Creates a timer that is not running.
    public init(on loop: EventLoop, onFire: @escaping () -> Void) throws(UVError) {
        loop.preconditionCurrent()
        self.loop = loop
        self.onFire = onFire
        let raw = unsafe loop.raw
        let handle = try unsafe Handle<uv_timer_t> { unsafe uv_timer_init(raw, $0) }
        unsafe self.handle = unsafe handle
        unsafe handle.setOwner(self)
    }

    deinit { precondition(isClosed, "a loop timer was let go without being closed") }

    private var isClosed: Bool { unsafe handle == nil }

    /// Fires once, not before `milliseconds` have passed, instead of at the time set before.
    public func start(milliseconds: Int) {
        loop.preconditionCurrent()
        let (delay, overflow) = UInt64(max(0, milliseconds)).multipliedReportingOverflow(by: 1_000_000)
        let deadline = uv_hrtime().addingClamped(overflow ? .max : delay)
        self.deadline = deadline
        if let armed, armed <= deadline { return }
        arm(for: deadline)
    }

    /// Does not fire until the next start.
    public func stop() {
        loop.preconditionCurrent()
        deadline = nil
    }

    /// Stops for good. Closing twice is fine.
    public func close() {
        loop.preconditionCurrent()
        guard let closing = unsafe handle else { return }
        unsafe handle = nil
        deadline = nil
        unsafe closing.close()
    }

    private func arm(for deadline: UInt64) {
        guard let handle = unsafe handle else { return }
        armed = deadline
        unsafe handle.start(deadline: deadline, on: loop) { timer in
            unsafe owner(of: timer, as: LoopTimer.self)?.ring()
        }
    }

    private func ring() {
        armed = nil
        guard let deadline else { return }
        guard uv_hrtime() >= deadline else { return arm(for: deadline) }
        self.deadline = nil
        onFire()
    }
}

extension Handle<uv_timer_t> {
    /// Starts the timer for a deadline in nanoseconds of `uv_hrtime`.
    ///
    /// libuv counts in whole milliseconds from a cached clock, so the clock is refreshed and the deadline
    /// rounded up in absolute terms: the timer cannot be early and is not needlessly late.
    func start(deadline: UInt64, on loop: EventLoop, _ callback: uv_timer_cb) {
        unsafe uv_update_time(loop.raw)
        let milliseconds = deadline / 1_000_000 + (deadline % 1_000_000 == 0 ? 0 : 1)
        let time = unsafe uv_now(loop.raw)
        unsafe _ = uv_timer_start(pointer, callback, milliseconds > time ? milliseconds - time : 0, 0)
    }
}
