import CLibuv

/// Watches a socket (`uv_poll_t`).
///
/// Only on the loop. The descriptor belongs to its owner, who must close the poll first; a new poll can watch
/// the same descriptor immediately afterwards.
@safe
package final class Poll: LoopHandle {
    /// The readiness of a socket.
    package struct Events: OptionSet, Sendable {
        /// The bits of `uv_poll_event`.
        package let rawValue: Int32

        /// Creates events from the bits of `uv_poll_event`.
        package init(rawValue: Int32) { self.rawValue = rawValue }

        /// Data, or the end of the stream, can be read.
        package static let readable = Events(rawValue: Int32(UV_READABLE.rawValue))
        /// Data can be written.
        package static let writable = Events(rawValue: Int32(UV_WRITABLE.rawValue))
    }

    private var handle: Handle<uv_poll_t>?
    private let loop: EventLoop
    private let onEvent: (Events, UVError?) -> Void

    /// Prepares to watch `descriptor`, on the loop's thread; nothing is reported before ``start(_:)``.
    ///
    /// - Parameter onEvent: called on the loop with the readiness of the socket, or with a polling error, after which
    ///   libuv has stopped the poll.
    package init(
        on loop: EventLoop, descriptor: Int32, onEvent: @escaping (Events, UVError?) -> Void
    ) throws(UVError) {
        loop.preconditionCurrent()
        self.loop = loop
        self.onEvent = onEvent
        let raw = unsafe loop.raw
        let handle = try unsafe Handle<uv_poll_t> { unsafe uv_poll_init(raw, $0, descriptor) }
        unsafe self.handle = unsafe handle
        unsafe handle.setOwner(self)
    }

    deinit { precondition(isClosed, "a poll was released without being closed") }

    private var isClosed: Bool { unsafe handle == nil }

    /// Reports `events` from now on, instead of those set before (`uv_poll_start`).
    package func start(_ events: Events) {
        loop.preconditionCurrent()
        guard let handle = unsafe handle else { return }
        unsafe _ = uv_poll_start(handle.pointer, events.rawValue) { handle, status, events in
            guard let poll = unsafe owner(of: handle, as: Poll.self) else { return }
            poll.onEvent(Events(rawValue: events), status < 0 ? UVError(rawValue: status) : nil)
        }
    }

    /// Reports nothing until the next start (`uv_poll_stop`).
    package func stop() {
        loop.preconditionCurrent()
        guard let handle = unsafe handle else { return }
        unsafe _ = uv_poll_stop(handle.pointer)
    }

    /// Stops for good; nothing is reported after this. Closing twice is fine, and so is closing from any
    /// thread after the end of the loop, which has closed it.
    package func close() {
        guard let closing = unsafe handle else { return }
        loop.preconditionCurrent()
        unsafe handle = nil
        unsafe closing.close()
    }
}
