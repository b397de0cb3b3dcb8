import FoundationEssentials
import TestServers

/// A request in caddy's log.
struct AccessEntry: Decodable, Sendable {
    struct Request: Decodable, Sendable {
        let method: String
        let uri: String
        let headers: [String: [String]]
    }

    let request: Request
    let status: Int
    /// The end of the response, in seconds since 1970.
    let ts: Double
    /// The duration, in seconds.
    let duration: Double

    /// The arrival of the request, in seconds since 1970.
    var begin: Double { ts - duration }

    /// `nil` for another kind of line.
    init?(line: String) {
        guard let entry = try? JSONDecoder().decode(AccessEntry.self, from: Data(line.utf8)) else {
            return nil
        }
        self = entry
    }
}

extension Service {
    /// The requests in caddy's log whose path begins with `path`, once there are `count` of them.
    func requests(to path: String, atLeast count: Int) async throws -> [AccessEntry] {
        try await log.until { lines in
            let entries = lines.compactMap(AccessEntry.init).filter { $0.request.uri.hasPrefix(path) }
            return entries.count >= count ? entries : nil
        }
    }
}
