import Foundation
import RxNetworking

#if Fleet
import RxFleet

/// The program that reads orders, in two separate processes.
enum OrderReader {
    // Code
    static func client(_ baseURL: String, of fleet: Fleet, _ keys: SealingKeys) -> Client {
        let login = Client.shop(baseURL, named: "login")
        let session = Session(
            sharing: fleet.credential("shop", sealing: keys),
            login: { login.account.logIn(as: "ada", password: "tea") })
        return Client.shop(baseURL, named: "reader") { $0.session = session }
    }

    static func fleet(_ folder: String, as name: String) -> Fleet {
        let fleet = Fleet(sharing: FileStore(folder: folder), as: name)
        fleet.join()
        return fleet
    }
    // Shown

    /// Reads an order again and again, prints its number each time, and lives until it is killed.
    ///
    /// - Parameter arguments: the folder, the base URL, its name, and the bytes of the key in Base64.
    static func run(_ arguments: [String]) async throws {
        let bytes = Array(Data(base64Encoded: arguments[3]) ?? Data())
        let keys = SealingKeys(try SealingKey(id: "tour", bytes: bytes))
        let client = client(arguments[1], of: fleet(arguments[0], as: arguments[2]), keys)
        let orders = Observable.interval(.milliseconds(20)).flatMap(.concat) { _ in client.account.order(1) }
        for try await order in orders.values(buffering: .unbounded) { say("\(order.id)") }
    }
}

extension Recipe {
    /// The recipes of several processes, for a build that can.
    static let shared = [loginOfTwoPrograms]

    static let loginOfTwoPrograms = Recipe(
        "One login for two programs",
        "Two programs read orders with one login. When it has expired, one of them logs in, and both go on."
    ) { stage in
        let folder = try Folder()
        let path = folder.path(of: "fleet")
        let key = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString()
        let shop = Client.shop(stage.baseURL, named: "programs")
        let before = try await shop.statistics().value()
        let readers = try ["reader 1", "reader 2"].map { name in
            try SeparateProcess(stage.program, ["read", path, stage.baseURL, name, key])
        }
        func read(_ count: Int) async throws -> [String] {
            var lines: [String] = []
            for reader in readers { for await line in reader.lines.prefix(count) { lines.append(line) } }
            return lines
        }

        let first = try await read(5)
        var now = try await shop.statistics().value()
        stage.expect(first == Array(repeating: "1", count: 10), "both programs read orders")
        stage.expect(now.logins == before.logins + 1, "the first has logged in for both")
        let fleet = OrderReader.fleet(path, as: "tour")
        let members = try await fleet.members.observable.filter { $0.count == 3 }.take(1).value()
        stage.note("in the fleet: \(members.map(\.name).sorted().joined(separator: ", "))")

        _ = try await shop.post("/expire").value()
        stage.note("the server has forgotten every token")
        now = try await shop.statistics().value()
        while now.logins == before.logins + 1 {
            try await Task.sleep(for: .milliseconds(20))
            now = try await shop.statistics().value()
        }
        let second = try await read(50)
        stage.expect(second == Array(repeating: "1", count: 100), "both programs go on")
        now = try await shop.statistics().value()
        for reader in readers { await reader.kill() }
        _ = try await fleet.leave().value()
        let logins = now.logins - before.logins
        stage.expect(logins == 2, "one of them has logged in again, for both: \(logins) logins")
        stage.result("\(first.count + second.count) orders; the server counts \(logins) logins")
    }
}
#else
extension Recipe {
    /// None: a build without the trait `Fleet` shares nothing.
    static let shared: [Recipe] = []
}
#endif
