import Foundation
import PlaygroundServer
import RxNetworking

let usage = """
    usage: Playground/run.sh                    run the tour against local servers
           Playground/run.sh --inspect          the same, shown in the developer tools of Chrome
           Playground/run.sh pages URL          follow the Link headers of a JSON API and print its items as JSON lines
           Playground/run.sh --recording FILE   run the GitHub recipes against a replay of recorded exchanges

    """

let arguments = Array(CommandLine.arguments.dropFirst())
let succeeded: Bool
switch arguments.first {
case nil, "--inspect":
    let isInspected = arguments.first != nil
    if isInspected { say(try await Inspection.start()) }
    let server = try await DemoAPI.start()
    let standby = try await DemoAPI.start()
    say("\(CurlTransport.shared.features)")
    say("The shop's API is listening on \(server.baseURL), and its standby server on \(standby.baseURL)")
    succeeded = await Tour(recipes: Recipe.all, baseURL: server.baseURL, standbyURL: standby.baseURL).run()
    if isInspected {
        say("The inspector shows the requests of the tour until you press Return. A word loads the offers.")
        let shop = Client.shop(server.baseURL, named: "offers")
        while let line = readLine(), !line.isEmpty {
            do {
                let use = try await shop.catalogue.offers().inspected("offers").value().response.cacheUse
                say(use.map { "The offers are from the cache: \($0)." } ?? "The server has sent the offers.")
            } catch {
                say("\(error)")
            }
        }
    }
    await standby.stop()
    await server.stop()
#if Outbox
// A process of a recipe, which is killed.
case "order" where arguments.count == 5:
    try await TunnelShop.run(Array(arguments.dropFirst()))
    succeeded = true
#endif
#if Fleet
// One of the two processes of a recipe, which is killed.
case "read" where arguments.count == 5:
    try await OrderReader.run(Array(arguments.dropFirst()))
    succeeded = true
#endif
case "pages" where arguments.count == 2:
    succeeded = await Pages(url: arguments[1]).run()
case "--recording" where arguments.count == 2:
    do {
        let server = try await RecordingReplay.start(file: arguments[1])
        say("Replaying \(server.count) recorded exchanges on \(server.baseURL)")
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
