import FoundationEssentials
import TestServers

/// A line in the log of `sockets.py`.
struct SocketEntry: Decodable, Sendable {
    enum Event: String, Decodable { case opened, ping, pong, closed }

    let event: Event
    /// The path and the query of the connection.
    let target: String
    let cookie: String?
    let `protocol`: String?
    let extensions: String?
    let payload: String?
    /// The code of the client's close frame.
    let code: Int?
    let reason: String?
}

extension Service {
    /// The entries of the connections to a path whose query has `mark`, once there are as many as `count`.
    func entries(
        _ event: SocketEntry.Event, _ mark: String, atLeast count: Int = 1
    ) async throws -> [SocketEntry] {
        try await log.until { lines in
            let entries = lines.lazy.filter { $0.contains(mark) }
                .compactMap { try? JSONDecoder().decode(SocketEntry.self, from: Data($0.utf8)) }
                .filter { $0.event == event }
            return entries.count >= count ? Array(entries) : nil
        }
    }

    func entry(_ event: SocketEntry.Event, _ mark: String) async throws -> SocketEntry {
        try await entries(event, mark)[0]
    }
}
