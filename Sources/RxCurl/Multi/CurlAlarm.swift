internal import RxLoop

/// When curl wants to be called again (`CURLMOPT_TIMERFUNCTION`).
struct CurlAlarm {
    private var timer: LoopTimer?
    private var next: Immediate?
    /// Whether curl wants to be called again at once.
    private var isDue = false

    /// Has `ring` called when curl is to be called. To be closed even if it throws.
    mutating func open(on loop: EventLoop, ring: @escaping () -> Void) throws(UVError) {
        next = try Immediate(on: loop, perform: ring)
        timer = LoopTimer(on: loop, onFire: ring)
    }

    /// −1 stops the timer, 0 is "as soon as you can, but not from here".
    mutating func set(milliseconds: Int) {
        isDue = milliseconds == 0
        if milliseconds > 0 { timer?.start(milliseconds: milliseconds) } else { timer?.stop() }
    }

    /// Whether curl is to be called at once; the caller does that.
    mutating func takeDue() -> Bool {
        defer { isDue = false }
        return isDue
    }

    /// Rings in the loop's next round if curl is to be called at once.
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
