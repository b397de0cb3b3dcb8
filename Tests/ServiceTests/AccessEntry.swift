import FoundationEssentials
import TestServers

/// A request as caddy's log has it.
struct AccessEntry: Decodable, Sendable {
    struct Request: Decodable, Sendable {
        let method: String
        let uri: String
        let headers: [String: [String]]
    }

    let request: Request
    let status: Int
    /// When the response was whole, in seconds since 1970.
    let ts: Double
    /// How long that took, in seconds.
    let duration: Double

    /// When the request came, in seconds since 1970.
    var begin: Double { ts - duration }

    /// `nil` for a line that tells of something else.
    init?(line: String) {
        guard let entry = try? JSONDecoder().decode(AccessEntry.self, from: Data(line.utf8)) else {
            return nil
        }
        self = entry
    }
}

extension Service {
    /// The requests in caddy's log whose path begins with `path`, once there are as many as `count`.
    func requests(to path: String, atLeast count: Int) async throws -> [AccessEntry] {
        try await log.until { lines in
            let entries = lines.compactMap(AccessEntry.init).filter { $0.request.uri.hasPrefix(path) }
            return entries.count >= count ? entries : nil
        }
    }
}
