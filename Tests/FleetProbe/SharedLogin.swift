#if Fleet
import RxFleet
import RxNetworking
import Synchronization

private struct Tokens: Decodable, Sendable {
    let token: String
    let refresh: String

    var credential: Credential { Credential(token: token, refreshToken: refresh) }
}

/// The number of the newest token that this process has had.
private final class Newest: Sendable {
    private let number = Mutex(0)

    var value: Int { number.withLock { $0 } }

    func see(_ credential: Credential?) {
        guard let found = credential.flatMap({ Int($0.token.dropFirst()) }) else { return }
        number.withLock { $0 = max($0, found) }
    }
}

/// Requests URL/goods for each line, with the login of the fleet. The outcome is the status, or `failed CODE`.
func shareLogin(over store: any SharedStore, as name: String, url: String) async throws {
    let keys = SealingKeys(try SealingKey(id: "1", bytes: Array(repeating: 1, count: 32)))
    let credential = SharedCredential(in: store, key: "shop", sealing: keys, leaseTime: .seconds(2))
    let newest = Newest()

    var configuration = ClientConfiguration(baseURL: url)
    configuration.options.retry = .never
    configuration.options.timeouts = Timeouts(total: .seconds(90))
    let plain = Client(configuration: configuration)
    let session = Session(
        sharing: credential, loginAttemptLimit: 100, loginAttemptWindow: .seconds(1),
        renewal: { current in
            plain.post("/token?process=\(name)", .form(["refresh_token": current.refreshToken ?? ""]))
                .decode(Tokens.self).map { $0.credential }
        },
        login: { plain.post("/login?process=\(name)").decode(Tokens.self).map { $0.credential } })
    configuration.session = session
    let client = Client(configuration: configuration)

    credential.events.subscribe { event in
        switch event {
        case .renewalLost: say("event lost")
        case .superseded: say("event superseded")
        case .renewed, .received, .loggedOut: break
        }
    }
    session.events.subscribe { event in
        newest.see(session.credential)
        if case .storageFailed(let error) = event { say("event unsaved \(error.code)") }
        if case .loggedOut(.some(let error)) = event { say("event refused \(error.code)") }
    }
    say("ready")
    while let line = readLine() {
        do {
            let response = try await client.get("/goods?process=\(name)&seen=\(newest.value)").value()
            say("\(line) \(response.status.code)")
        } catch {
            say("\(line) failed \(error)")
        }
    }
}
#endif
