public import HTTPTypes

/// The rules by which a ``ReplayTransport`` selects exchanges and times their events.
public struct ReplayRules: Sendable {
    /// The order in which the exchanges of a cassette are used.
    public enum Order: Sendable {
        /// Any; equal requests get their responses in the recorded order.
        case free
        /// The recorded one: each request must match the next exchange.
        case recorded
    }

    /// The times of the events.
    public enum Timing: Sendable {
        /// The recorded times.
        case recorded
        /// The recorded times, multiplied.
        case scaled(Double)
        /// All events of an exchange follow each other at once.
        case atOnce
    }

    /// Whether scheme, host and port of the URLs are compared. Default true.
    public var comparesOrigins = true
    /// Whether the contents are compared: JSON with its members in any order, forms with their pairs in any order,
    /// multipart with any boundary, other content byte by byte. It applies to the client's messages of WebSockets as well,
    /// whose number is always compared. Default true.
    public var comparesBodies = true
    /// The header fields that are compared. Default none.
    public var comparedFields: Set<HTTPField.Name> = []
    /// The order in which the exchanges are used. Default free.
    public var order = Order.free
    /// The times of the events. Default as recorded.
    public var timing = Timing.recorded
    /// Whether each exchange answers once, and all of them must be used, to the client's last message. If it is false, the
    /// last one of several that match repeats, and exchanges may stay unused or end early. Default true.
    public var isStrict = true

    /// Creates the default rules.
    public init() {}

    /// The default rules: method, URL and body, in any order, as recorded, strict.
    public static let standard = ReplayRules()
}
