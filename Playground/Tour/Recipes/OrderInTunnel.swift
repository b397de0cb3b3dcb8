import Foundation
import RxNetworking

#if Outbox
import RxOutbox

/// The program that writes orders, in a separate process.
enum TunnelShop {
    // Code
    struct PlaceOrder: OutboxEndpoint {
        static let outboxName = "order.place"
        typealias Output = Confirmation
        var goods: Int
        var number: Int

        var path: String { "/orders" }
        var method: HTTPRequest.Method { .post }
        var parameters: Parameters { ["goods": goods, "number": number] }
    }

    static func outbox(_ folder: String, _ client: Client) throws -> Outbox {
        try Outbox(
            store: SQLiteOutboxStore(folder: folder), client: client, endpoints: [PlaceOrder.self])
    }

    static func write(_ goods: Int, to outbox: Outbox) async throws -> OutboxID {
        let order = PlaceOrder(goods: goods, number: 2)
        return try await outbox.enqueue(order, key: .generated(.stripe), order: "ada").value().id
    }
    // Shown

    struct Confirmation: Decodable, Sendable {
        let id: Int
        let goods: String
        let number: Int
    }

    /// The network of a tunnel.
    struct Tunnel: Reachability {
        let status = NetworkStatus.unreachable
        var statuses: Observable<NetworkStatus, Never> { .just(status) }
        func start() {}
        func stop() {}
    }

    static func client(_ baseURL: String, inTunnel: Bool) -> Client {
        Client.shop(baseURL, named: "orders") { configuration in
            if inTunnel { configuration.reachability = Tunnel() }
        }
    }

    /// Opens the outbox, writes orders, prints the ids of those that are durable, and lives until it is killed.
    ///
    /// - Parameter arguments: the folder, the base URL, `tunnel` or `network`, and the goods, separated by commas.
    static func run(_ arguments: [String]) async throws {
        let outbox = try outbox(arguments[0], client(arguments[1], inTunnel: arguments[2] == "tunnel"))
        for goods in arguments[3].split(separator: ",").compactMap({ Int($0) }) {
            say("\(try await write(goods, to: outbox))")
        }
        while true { try await Task.sleep(for: .seconds(3600)) }
    }
}

extension Recipe {
    /// The recipes that store something, for a build that can.
    static let stored = [orderInTunnel]

    static let orderInTunnel = Recipe(
        "Orders from a tunnel",
        "A program writes orders without a network and is killed; another is killed while it sends; each order is executed once."
    ) { stage in
        let folder = try Folder()
        let path = folder.path(of: "outbox")
        let shop = Client.shop(stage.baseURL, named: "orders")
        func start(_ place: String, _ goods: String) throws -> SeparateProcess {
            try SeparateProcess(stage.program, ["order", path, stage.baseURL, place, goods])
        }
        let before = try await shop.statistics().value()

        let first = try start("tunnel", "7,8,9")
        var ids: [OutboxID] = []
        for await line in first.lines.prefix(3) { ids.append(OutboxID(rawValue: line)) }
        await first.kill()
        stage.note("three orders are durable; the program is killed in the tunnel")
        stage.expect(
            try await shop.statistics().value().ordersPlaced == before.ordersPlaced, "nothing was sent")

        _ = try await shop.put("/silent/yes").value()
        let second = try start("network", "")
        var now = before
        for _ in 1...500 where now.ordersPlaced == before.ordersPlaced {
            try await Task.sleep(for: .milliseconds(20))
            now = try await shop.statistics().value()
        }
        await second.kill()
        _ = try await shop.put("/silent/no").value()
        stage.note("the first order is executed; the program is killed before the response")
        stage.expect(now.ordersPlaced == before.ordersPlaced + 1, "one order was executed")

        let outbox = try TunnelShop.outbox(path, shop)
        for id in ids {
            let confirmation = try await outbox.ticket(TunnelShop.PlaceOrder.self, of: id).output().value()
            stage.note("order \(confirmation.id): \(confirmation.number) × \(confirmation.goods)")
        }
        let after = try await shop.statistics().value()
        let remaining = try await outbox.drain(within: .seconds(5)).value()
        stage.expect(ids.count == 3 && remaining == 0, "all orders are delivered")
        let placed = after.ordersPlaced - before.ordersPlaced
        stage.expect(placed == 3, "each order is executed once")
        let repeated = after.ordersRepeated - before.ordersRepeated
        stage.expect(repeated == 1, "the order without a response was sent again with its key")
        stage.result(
            "three orders, \(placed) executed, \(repeated) repeated; two programs killed")
    }
}
#else
extension Recipe {
    /// None: a build without the trait `Outbox` stores nothing.
    static let stored: [Recipe] = []
}
#endif
