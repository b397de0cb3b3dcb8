/// The parts of a request that the user sees while it runs and when it fails.
public struct Presentation: OptionSet, Sendable {
    /// The bits.
    public let rawValue: Int

    /// Takes the bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// It counts in ``Client/activity``.
    public static let indicator = Presentation(rawValue: 1 << 0)
    /// The client's ``ClientConfiguration/accessories`` accompany it.
    public static let accessories = Presentation(rawValue: 1 << 1)
    /// Its failure is sent by ``Client/errorTips``.
    public static let errorTips = Presentation(rawValue: 1 << 2)

    /// All of it.
    public static let all: Presentation = [.indicator, .accessories, .errorTips]
    /// Nothing: it runs in the background.
    public static let hidden: Presentation = []
}
