#if Fleet
// A process of a fleet, for tests that kill and stop it.
//
//   fleet-probe STORE URL NAME
//
// Shares one login over STORE, a folder or the URL of a Redis, with the other processes that name the same. Each line that it reads makes it
// request URL/goods; it prints `LINE STATUS` or `LINE failed CODE` for each, and `event TEXT` for the events of the login.

import RxFleet
import RxNetworking
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

struct Tokens: Decodable, Sendable {
    let token: String
    let refresh: String

    var credential: Credential { Credential(token: token, refreshToken: refresh) }
}

/// Not with print, which buffers lines.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    unsafe _ = write(1, bytes, bytes.count)
}

/// The store that an argument names.
func sharedStore(_ place: String) throws -> any SharedStore {
    place.contains("://") ? try RedisStore(place) : FileStore(folder: place)
}

/// The number of the newest token that this process has had.
final class Newest: Sendable {
    private let number = Mutex(0)

    var value: Int { number.withLock { $0 } }

    func see(_ credential: Credential?) {
        guard let found = credential.flatMap({ Int($0.token.dropFirst()) }) else { return }
        number.withLock { $0 = max($0, found) }
    }
}

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count == 3 else { exit(2) }
let (url, name) = (arguments[1], arguments[2])
let store = try sharedStore(arguments[0])
let keys = SealingKeys(try SealingKey(id: "1", bytes: Array(repeating: 1, count: 32)))
let credential = SharedCredential(in: store, key: "shop", sealing: keys, leaseTime: .seconds(2))
let newest = Newest()

var configuration = ClientConfiguration(baseURL: url)
configuration.options.retry = .never
configuration.options.timeouts = Timeouts(total: .seconds(90))
let plain = Client(configuration: configuration)
let session = Session(
    sharing: credential, loginAttemptLimit: Session.AttemptLimit(100, within: .seconds(1)),
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
#endif
