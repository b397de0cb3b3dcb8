import Synchronization
import TestServers

/// A file on a raw server, which responds to ranges by RFC 9110 and can break connections.
final class RangeFile: Sendable {
    struct State: Sendable {
        var content: [UInt8]
        var tag = "\"v1\""
        /// The number of bytes sent of each body, and the action after them; later bodies are complete.
        var breaks: [(count: Int, then: RawServer.Step)] = []
    }

    let state: Mutex<State>

    init(_ content: [UInt8]) { state = Mutex(State(content: content)) }

    /// Bytes without repetition.
    static func content(_ count: Int) -> [UInt8] { Array(NginxServer.large.prefix(count)) }

    func serve() throws -> RawServer { try RawServer { request in self.answer(request) } }

    private func answer(_ request: RawServer.Request) -> [RawServer.Step] {
        state.withLock { state in
            let whole = state.content
            var offset = 0
            if let range = request.field("Range"), request.field("If-Range") == state.tag,
                let first = Int(range.dropFirst(6).dropLast())
            {
                offset = first
            }
            guard offset < whole.count || whole.isEmpty else {
                let range = "Content-Range: bytes */\(whole.count)"
                return [.send("HTTP/1.1 416 X\r\nContent-Length: 2\r\n\(range)\r\n\r\nno")]
            }
            let body = whole[offset...]
            var head = "HTTP/1.1 \(offset > 0 ? 206 : 200) X\r\nContent-Length: \(body.count)\r\n"
            head += "ETag: \(state.tag)\r\n"
            if offset > 0 { head += "Content-Range: bytes \(offset)-\(whole.count - 1)/\(whole.count)\r\n" }
            head += "\r\n"
            guard !state.breaks.isEmpty else { return [.send(Array(head.utf8) + body)] }
            let cut = state.breaks.removeFirst()
            return [.send(Array(head.utf8) + body.prefix(cut.count)), cut.then]
        }
    }
}
