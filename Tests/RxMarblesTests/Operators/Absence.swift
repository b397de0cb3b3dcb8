/// The operators that RxLite omits on purpose, with the reasons.
enum Absence {
    static let reasons: [String: String] = [
        "window": "streams of streams by time have no use in networking; buffer collects",
        "windowCount": "as window", "windowTime": "as window", "windowToggle": "as window",
        "windowWhen": "as window",
        "groupBy": "the recordings have no form for values that are streams",
        "publish": "share is the one way to share", "publishBehavior": "as publish",
        "publishLast": "as publish",
        "publishReplay": "as publish", "refCount": "as publish", "connectable": "as publish",
        "multicast": "as publish", "connect": "as publish",
    ]
}
