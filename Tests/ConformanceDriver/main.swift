import Foundation
import RxNetworking

signal(SIGPIPE, SIG_IGN)

let options: Options
do throws(OptionError) {
    options = try Options(CommandLine.arguments.dropFirst())
} catch {
    let text = Data(((error.problem.map { $0 + "\n\n" } ?? "") + Options.help + "\n").utf8)
    (error.problem == nil ? FileHandle.standardOutput : FileHandle.standardError).write(text)
    exit(error.problem == nil ? 0 : 2)
}

let client = options.client
let output = Output(to: .standardOutput)
let driver = Driver(client: client, cache: options.cache, output: output)
while let line = readLine() {
    if !line.allSatisfy(\.isWhitespace) { driver.perform(line) }
}
driver.operations.cancelEndless()
await driver.operations.waitForAll()
do {
    // The type selects the awaited overload: top-level code counts as synchronous if both are possible.
    if let cookies = client.configuration.cookies { let _: Void? = try await cookies.flush().value() }
} catch {
    output.write(ErrorAnswer(nil, error.code.rawValue, error.message))
}
output.close()
