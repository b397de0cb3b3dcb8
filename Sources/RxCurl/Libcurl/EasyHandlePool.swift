import RxHTTP

/// The easy handles that carry transfers; each knows its slot. Whoever adds or removes one calls
/// ``Multi/limitKeptConnections()``.
struct RunningHandles {
    private var handles: [EasyHandle] = []
    /// The number of paused transfers for which curl keeps bytes.
    private(set) var receivePausedCount = 0

    var count: Int { handles.count }
    var first: EasyHandle? { handles.first }
    var last: EasyHandle? { handles.last }
    var transfers: [Transfer] { handles.compactMap(\.transfer) }

    mutating func add(_ handle: EasyHandle) {
        handle.slot = handles.count
        handles.append(handle)
    }

    /// Removes a handle that is present.
    mutating func remove(_ handle: EasyHandle) {
        let last = handles.removeLast()
        if last !== handle {
            handles[handle.slot] = last
            last.slot = handle.slot
        }
        handle.slot = -1
    }

    /// Records that curl keeps bytes for a paused transfer.
    mutating func markReceivePaused(_ handle: EasyHandle) {
        guard !handle.isReceivePaused else { return }
        handle.isReceivePaused = true
        receivePausedCount += 1
    }

    /// Records that curl no longer keeps bytes for it.
    mutating func clearReceivePaused(_ handle: EasyHandle) {
        guard handle.isReceivePaused else { return }
        handle.isReceivePaused = false
        receivePausedCount -= 1
    }

    /// Whether curl has left a message about a transfer whose request has been sent.
    var haveMessage: Bool { handles.contains { $0.hasMessage && $0.transfer?.state.isSent == true } }

    /// Whether curl keeps bytes from the connection with this local port.
    func isReceivePaused(on localPort: Int) -> Bool {
        handles.contains { $0.isReceivePaused && $0.transfer?.metrics.localPort == localPort }
    }
}

/// Easy handles that wait for their next transfer; the one used last is taken first, because it is warm.
struct EasyHandlePool {
    private var idle: [EasyHandle] = []
    private static let capacity = 256

    mutating func take() -> EasyHandle? { idle.popLast() }

    /// Keeps `handle`, or releases it if the pool is full.
    mutating func give(_ handle: EasyHandle) {
        if idle.count < Self.capacity { idle.append(handle) }
    }

    mutating func removeAll() { idle = [] }
}
