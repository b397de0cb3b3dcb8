import Foundation
import PlaygroundServer
import RxNetworking

let usage = """
    usage: Playground/run.sh                    the tour, on a server of its own
           Playground/run.sh pages URL          follow the Link headers of a JSON API, items as JSON lines
           Playground/run.sh --recording FILE   recipes on a replay of recorded GitHub exchanges

    """

let arguments = Array(CommandLine.arguments.dropFirst())
let succeeded: Bool
switch arguments.first {
case nil:
    let server = try await DemoAPI.start()
    let standby = try await DemoAPI.start()
    say("\(CurlTransport.shared.features)")
    say("A shop's API is listening on \(server.baseURL), and a second one on \(standby.baseURL)")
    succeeded = await Tour(recipes: Recipe.all, baseURL: server.baseURL, standbyURL: standby.baseURL).run()
    await standby.stop()
    await server.stop()
case "pages" where arguments.count == 2:
    succeeded = await Pages(url: arguments[1]).run()
case "--recording" where arguments.count == 2:
    do {
        let server = try await RecordingReplay.start(file: arguments[1])
        say("\(server.count) recorded exchanges are replayed on \(server.baseURL)")
        succeeded = await Tour(recipes: Recipe.recording, baseURL: server.baseURL, standbyURL: server.baseURL)
            .run()
        await server.stop()
    } catch {
        write("\(error)\n", to: .standardError)
        exit(2)
    }
case "--help", "-h":
    say(usage)
    exit(0)
default:
    write(usage, to: .standardError)
    exit(2)
}
exit(succeeded ? 0 : 1)
