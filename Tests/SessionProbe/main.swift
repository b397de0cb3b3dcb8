// Requests each path that it reads from `arguments[1]`, as a session whose credential is in the file `arguments[2]`, and
// prints a line for each.

import RxNetworking

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

struct Tokens: Decodable, Sendable {
    let token: String
    let refresh: String?

    var credential: Credential { Credential(token: token, refreshToken: refresh) }
}

func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
}

func client(_ url: String, _ path: String) -> Client {
    var configuration = ClientConfiguration()
    configuration.options.retry = .never
    let login = Client(baseURL: url, configuration: configuration)
    configuration.session = Session(
        store: CredentialFile(path),
        renewal: { credential in
            login.post("/token", .form(["refresh_token": credential.refreshToken ?? ""]))
                .decode(Tokens.self).map { $0.credential }
        },
        login: { login.post("/login").decode(Tokens.self).map { $0.credential } })
    return Client(baseURL: url, configuration: configuration)
}

let requests = client(CommandLine.arguments[1], CommandLine.arguments[2])
while let line = readLine() {
    do {
        let response = try await requests.get(line).value()
        say("\(response.status.code)")
    } catch {
        say("failed \(error)")
    }
}
