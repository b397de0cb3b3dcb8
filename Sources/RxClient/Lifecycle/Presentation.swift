/// The parts of a request that are visible to the user while it runs and when it fails.
public struct Presentation: OptionSet, Sendable {
    /// The raw bits.
    public let rawValue: Int

    /// Creates a set from raw bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The request counts in ``Client/activity``.
    public static let indicator = Presentation(rawValue: 1 << 0)
    /// The ``RequestOptions/accessories`` accompany the request.
    public static let accessories = Presentation(rawValue: 1 << 1)
    /// ``Client/errorTips`` emits the request's failure.
    public static let errorTips = Presentation(rawValue: 1 << 2)

    /// All parts.
    public static let all: Presentation = [.indicator, .accessories, .errorTips]
    /// No parts: the request runs in the background.
    public static let hidden: Presentation = []
}
