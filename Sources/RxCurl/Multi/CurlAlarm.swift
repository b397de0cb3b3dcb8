internal import RxLoop

/// The time at which curl wants to be called again (`CURLMOPT_TIMERFUNCTION`).
struct CurlAlarm {
    private var timer: LoopTimer?
    private var next: Immediate?
    /// Whether curl wants to be called again immediately.
    private var isDue = false

    /// Sets the closure that calls curl. The alarm must be closed even if this throws.
    mutating func open(on loop: EventLoop, ring: @escaping () -> Void) throws(UVError) {
        next = try Immediate(on: loop, perform: ring)
        timer = LoopTimer(on: loop, onFire: ring)
    }

    /// Sets the time. −1 stops the timer; 0 means "as soon as possible, but not from within this call".
    mutating func set(milliseconds: Int) {
        isDue = milliseconds == 0
        if milliseconds > 0 { timer?.start(milliseconds: milliseconds) } else { timer?.stop() }
    }

    /// Returns and clears whether curl must be called immediately, by the caller.
    mutating func takeDue() -> Bool {
        defer { isDue = false }
        return isDue
    }

    /// Rings in the loop's next iteration if curl must be called immediately.
    mutating func ringIfDue() {
        if takeDue() { next?.request() }
    }

    mutating func close() {
        next?.close()
        next = nil
        timer?.close()
        timer = nil
    }
}
