import Synchronization

/// The streams of a screen that are running: their number, for an indicator, and a message for the user.
///
/// ```swift
/// let screen = Activity()
/// screen.isActive.subscribe { isOn in indicator.isVisible = isOn }
/// screen.message.subscribe { text in indicator.text = text }
///
/// keywords.flatMap(.latest) { search($0).tracked(by: screen, loading: "Searching…") }
/// ```
///
/// ``Observable/tracked(by:loading:while:)`` adds a stream; any number of streams of any kind share an activity. Where
/// `flatMap(.latest)` replaces a running stream, the new one is counted before the old one is removed, so that an
/// indicator does not flicker. Safe from any thread.
public final class Activity: Sendable {
    /// The running streams.
    private struct Contents {
        var count = 0
        /// The messages of those that have one, in the order in which they began.
        var messages: [(stream: ObjectIdentifier, text: String)] = []
    }

    private let contents = MutableProperty(Contents())
    /// The number of running streams. Subscribers receive changes only.
    public let count: Property<Int>
    /// Whether a stream is running. Subscribers receive changes only.
    public let isActive: Property<Bool>
    /// The message of the stream that began last, of those that are running and have one. Subscribers receive changes
    /// only.
    public let message: Property<String?>

    /// Creates an activity without streams.
    public init() {
        count = Property(contents).map(\.count).distinct()
        isActive = count.map { $0 > 0 }.distinct()
        message = Property(contents).map { $0.messages.last?.text }.distinct()
    }

    /// Counts something that runs, until ``end(_:)``.
    ///
    /// - Parameter stream: identifies the message. It is not retained: it must live until the end, which is given it
    ///   again.
    package func begin(_ stream: any AnyObject & Sendable, _ message: String? = nil) {
        contents.update { contents in
            contents.count += 1
            if let message { contents.messages.append((ObjectIdentifier(stream), message)) }
        }
    }

    /// Ends the counting that ``begin(_:_:)`` began. Each beginning needs one end.
    package func end(_ stream: any AnyObject & Sendable) {
        contents.update { contents in
            contents.count -= 1
            if !contents.messages.isEmpty {
                contents.messages.removeAll { $0.stream == ObjectIdentifier(stream) }
            }
        }
    }
}

extension Observable {
    /// Counts a subscription in `activity`, from its start to any end.
    ///
    /// ```swift
    /// client.request(GoodsList(keyword: "tea")).tracked(by: screen, loading: "Loading…")
    /// client.pages(GoodsList(keyword: "tea"), .numbered(size: 20), next: next, reload: reload)
    ///     .tracked(by: screen, while: { $0.phase == .loadingFirst })
    /// ```
    ///
    /// It no longer counts when its subscriber receives the end.
    ///
    /// - Parameters:
    ///   - activity: counts the subscription.
    ///   - message: what ``Activity/message`` tells the user meanwhile. Default `nil`: nothing.
    ///   - isBusy: whether the stream counts from this value to the next. Default `nil`: it counts as long as it runs.
    public func tracked(
        by activity: Activity, loading message: String? = nil,
        while isBusy: (@Sendable (Element) -> Bool)? = nil
    ) -> Observable {
        lift { observer in
            let scope = observer.scope
            let tracking = Tracking(activity, message)
            if isBusy == nil { tracking.count(true) }
            // Also if the scope has closed by now.
            scope.onClose { if tracking.isCounted { scope.lane.afterSuccessor { tracking.count(false) } } }
            return Observer(
                scope: scope,
                next: { value in
                    if let isBusy { tracking.count(isBusy(value)) }
                    observer.next(value)
                },
                end: { completion in
                    tracking.count(false)
                    observer.end(completion)
                })
        }
    }
}

/// Whether one subscription counts in an activity.
private final class Tracking: Sendable {
    private let activity: Activity
    private let message: String?
    private let counts = Atomic(false)

    init(_ activity: Activity, _ message: String?) {
        self.activity = activity
        self.message = message
    }

    var isCounted: Bool { counts.load(ordering: .relaxed) }

    func count(_ isBusy: Bool) {
        guard counts.exchange(isBusy, ordering: .relaxed) != isBusy else { return }
        if isBusy { activity.begin(self, message) } else { activity.end(self) }
    }
}
