#if Inspector
/// One WebSocket connection of a browser, as the routes see it.
protocol SocketSession: Sendable {
    /// Takes a text message. The next one is read when this returns.
    func receive(_ text: String) async
    /// The connection has ended.
    func close() async
}
#endif
