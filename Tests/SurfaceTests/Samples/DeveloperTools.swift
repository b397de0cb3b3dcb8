#if Inspector
import RxInspector
import RxNetworking

func inspect(client: Client) async throws {
    let inspector = try await Inspector.start(client)
    print(inspector)
}

func inspect(accounts: Client, with inspector: Inspector) {
    inspector.inspect(accounts, named: "accounts")
}

func inspectIfAsked(client: Client) async throws {
    try await Inspector.startIfAsked(client)
}

func inspectWithSettings(client: Client) async throws {
    // Listed, so that chrome://inspect finds it at localhost:9229.
    let inspector = try await Inspector.start(client, port: 9229, showsSecrets: true, isListed: true)
    print(inspector)
}
#endif
