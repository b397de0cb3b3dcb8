internal import CLibuv

/// Runs its callback once, after the current or the next poll phase.
///
/// It serves as a timer of zero: with libuv such a timer costs a millisecond if rounded up, and before libuv
/// 1.48 one started from a timer's callback can spin the loop. Here an idle handle keeps the poll from
/// sleeping, and a check handle runs right after it (`uv_idle_t`, `uv_check_t`).
///
/// Only on the loop.
@safe
package final class Immediate: LoopHandle {
    private var handles: (idle: Handle<uv_idle_t>, check: Handle<uv_check_t>)?
    private let loop: EventLoop
    private let perform: () -> Void
    private var isRequested = false

    /// Creates an immediate callback that is not requested yet.
    package init(on loop: EventLoop, perform: @escaping () -> Void) throws(UVError) {
        loop.preconditionCurrent()
        self.loop = loop
        self.perform = perform
        let raw = unsafe loop.raw
        let idle = try unsafe Handle<uv_idle_t> { unsafe uv_idle_init(raw, $0) }
        let check: Handle<uv_check_t>
        do throws(UVError) {
            unsafe check = try unsafe Handle<uv_check_t> { unsafe uv_check_init(raw, $0) }
        } catch {
            unsafe idle.close()
            throw error
        }
        unsafe handles = unsafe (idle, check)
        unsafe idle.setOwner(self)
        unsafe check.setOwner(self)
    }

    deinit { precondition(isClosed, "an immediate callback was released without being closed") }

    private var isClosed: Bool { unsafe handles == nil }

    /// Requests one call. Requesting again before it has run changes nothing.
    package func request() {
        loop.preconditionCurrent()
        guard !isRequested, let (idle, check) = unsafe handles else { return }
        isRequested = true
        unsafe _ = uv_idle_start(idle.pointer) { _ in }
        unsafe _ = uv_check_start(check.pointer) { check in
            unsafe owner(of: check, as: Immediate.self)?.fire()
        }
    }

    /// Cancels the request.
    package func stop() {
        loop.preconditionCurrent()
        guard isRequested, let (idle, check) = unsafe handles else { return }
        isRequested = false
        unsafe _ = uv_idle_stop(idle.pointer)
        unsafe _ = uv_check_stop(check.pointer)
    }

    /// Stops for good. Closing twice is fine, and so is closing from any thread after the end of the loop.
    package func close() {
        guard let (idle, check) = unsafe handles else { return }
        stop()
        unsafe handles = nil
        unsafe idle.close()
        unsafe check.close()
    }

    private func fire() {
        stop()
        perform()
    }
}
