#if Inspector
/// The limits that only tests change.
struct InspectorLimits: Sendable {
    /// The time after which a browser is disconnected that reads nothing, or does not complete its request.
    var patience = Duration.seconds(15)
    /// The maximum number of bytes that wait for a browser.
    var outbox = 32 << 20
    /// The time that the texts of streams' values may take in a tenth of a second, instead of a share of it.
    var textTime: Duration?
}
#endif
