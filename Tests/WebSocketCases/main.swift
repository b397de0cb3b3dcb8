// Plays the cases of the Autobahn test suite against a WebSocket client, and prints a table by section.
//
//   websocket-cases [--client COMMAND] [--cases PREFIX,…] [--messages N] [--verbose]
//
// 0 if every case is OK or informational, 1 if not, 2 for wrong arguments.

import TestServers

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

let options: Options
do throws(Options.Wrong) {
    options = try Options(CommandLine.arguments.dropFirst())
} catch {
    print("websocket-cases: \(error.reason)\n\(Options.usage)")
    exit(2)
}

let server = try AutobahnServer(
    cases: AutobahnCase.all.filter { options.includes($0.number) }, messageLimit: options.messages)

// The client under test: it opens the URL and echoes every message until the connection has ended.
let command = try options.client.map { try ClientCommand($0, server: server) }
let client: @Sendable (UInt16, Int) async -> Void = { port, number in
    guard let command else { return await echo(port: port, number: number) }
    guard await command.echo(port: port, number: number) else {
        await command.end()
        print("websocket-cases: the command ended in case \(server.cases[number - 1].number)")
        exit(2)
    }
}

let outcomes = await server.run(
    report: { if options.isVerbose { print("\($0), \($0.duration)") } }, client: client)
await command?.end()
server.stop()
let report = AutobahnReport(outcomes)
print(report)
exit(report.isOK ? 0 : 1)
