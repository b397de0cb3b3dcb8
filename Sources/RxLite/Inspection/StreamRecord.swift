/// An event of an inspected stream, as an inspector shows it.
package struct StreamRecord: Sendable {
    /// The kinds of events.
    package enum Kind: Sendable {
        /// The subscription has begun.
        case begun(StreamTrack)
        /// A value: the number of its marble, and a short text.
        case value(marble: Int, text: String, pages: ShownPages?)
        /// The stream has ended well.
        case finished
        /// The stream has failed, with the error's text.
        case failed(String)
        /// The subscription was cancelled before an end.
        case cancelled
        /// The signal or property was released.
        case released
        /// The subscriber has paused the stream.
        case paused
        /// The stream continues after a pause.
        case resumed
    }

    /// The track that shows the event.
    package let track: Int
    /// The time on the log's clock.
    package let time: Duration
    /// The kind of the event.
    package let kind: Kind
}

/// The progress of a list that is loaded page by page.
package struct ShownPages: Sendable, Equatable {
    /// The number of loaded pages.
    package var page: Int
    /// The number of items so far, and in all if that is known.
    package var items: Int
    package var total: Int?
    /// The name of the current activity.
    package var phase: String

    /// Creates a description of a list.
    package init(page: Int, items: Int, total: Int?, phase: String) {
        self.page = page
        self.items = items
        self.total = total
        self.phase = phase
    }
}

/// A value that has a text for inspectors: short, and without secrets.
package protocol InspectedValue {
    /// The text.
    var inspectedText: String { get }
    /// The progress, if the value is a list of pages.
    var inspectedPages: ShownPages? { get }
}

extension InspectedValue {
    /// Most values are no lists of pages.
    package var inspectedPages: ShownPages? { nil }
}
