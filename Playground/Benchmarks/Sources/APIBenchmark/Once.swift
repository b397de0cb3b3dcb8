import HTTPCases
import RxInspector
import RxNetworking

/// Measures one way in a process of its own.
struct Once {
    let way: Way
    let baseURL: String
    let count: Int

    private struct Line: Encodable {
        let `case` = "once"
        let way: String
        /// The CPU time of all threads per request, in microseconds.
        let microseconds: Double
    }

    func run() async throws {
        let stream = try await way.items(of: baseURL, over: CurlTransport(loop: .shared))
        let before = Usage().cpuSeconds
        _ = try sum(stream, count: count, limit: 64)
        if way.isInspected { try await waitForRest() }
        let time = (Usage().cpuSeconds - before) / Double(count) * 1e6
        try report(Line(way: way.rawValue, microseconds: time))
    }

    /// Waits until the inspector has sent what it has: until the process uses no processor.
    private func waitForRest() async throws {
        var before: Double
        repeat {
            before = Usage().cpuSeconds
            try await Task.sleep(for: .milliseconds(50))
        } while Usage().cpuSeconds - before > 0.001
    }
}

private struct Address: Encodable {
    let inspector: String
}

/// Shows the requests of the client to a front end: prints the address, and waits for the line that says that one reads.
func inspect(_ client: Client, showsAll: Bool) async throws {
    let inspector = try await Inspector.start(client, requestsPerSecond: showsAll ? nil : 500)
    try report(Address(inspector: inspector.webSocketURL))
    guard readLine() != nil else { throw Wrong("no front end reads") }
}
