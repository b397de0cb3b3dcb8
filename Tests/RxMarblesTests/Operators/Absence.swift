/// What RxLite leaves out on purpose, and why.
enum Absence {
    static let reasons: [String: String] = [
        "window": "streams of streams by time have no use in networking; buffer collects",
        "windowCount": "as window", "windowTime": "as window", "windowToggle": "as window",
        "windowWhen": "as window",
        "groupBy": "a stream per key is a dictionary of signals, which its owner can also end",
        "bufferToggle": "overlapping buffers have no use in networking",
        "bufferWhen": "as buffer",
        "repeatWhen": "repeat waits for a time, not for a stream",
        "buffer": "buffers close by time and count, not by a stream",
        "publish": "share is the one way to share", "publishBehavior": "as publish",
        "publishLast": "as publish",
        "publishReplay": "as publish", "refCount": "as publish", "connectable": "as publish",
    ]
}
