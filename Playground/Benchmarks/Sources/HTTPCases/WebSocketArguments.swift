import Foundation

/// The resident memory of this process, in KiB.
package func residentKiB() throws -> Int {
    let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * Int(sysconf(Int32(_SC_PAGESIZE))) / 1024
}

/// The arguments of a WebSocket benchmark: `echo PORT CONNECTIONS SIZE MESSAGES` or `idle PORT CONNECTIONS`.
package struct WebSocketArguments: Sendable {
    /// The port of the server on 127.0.0.1.
    package let port: Int
    /// The number of connections.
    package let connections: Int
    /// The size and number of messages; `nil` for idle connections.
    package let echo: (size: Int, messages: Int)?

    /// Ends the program with 2 if the arguments are wrong.
    package init() {
        let words = CommandLine.arguments
        let numbers = words.dropFirst(2).compactMap { Int($0) }
        switch (words.dropFirst().first, numbers.count) {
        case ("echo", 4): echo = (numbers[2], numbers[3])
        case ("idle", 2): echo = nil
        default: exit(2)
        }
        (port, connections) = (numbers[0], numbers[1])
    }
}

/// Prints the figures of an echo run as a JSON object.
package func printEcho(messages: Int, seconds: Double, cpu: Double) {
    print("{\"messages\":\(messages),\"seconds\":\(seconds),\"cpu_seconds\":\(cpu)}")
}
