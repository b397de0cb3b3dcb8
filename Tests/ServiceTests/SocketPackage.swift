import TestServers
import Testing

/// A package from PyPI with a WebSocket server.
enum SocketPackage: String, CaseIterable, Codable, Sendable, CustomStringConvertible {
    case websockets, aiohttp, wsproto

    var description: String { rawValue }

    private static let servers = Dictionary(
        uniqueKeysWithValues: allCases.map { package in
            (package, Task { try await Service.sockets(package) })
        })

    /// The server that the tests of a process share.
    func shared() async throws -> Service { try await #require(Self.servers[self]).value }
}
