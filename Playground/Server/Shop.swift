import FlyingFox
import Synchronization

/// Takes the requests of the demo API apart and answers them.
final class Shop: Sendable {
    let counters = Counters()
    private let accounts = Accounts()
    /// How often something that happens only so many times has happened, by its name and the caller's key.
    private let happened = Mutex<[String: Int]>([:])

    func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
        counters.count { $0.requests["\(request.method.rawValue) \(request.path)", default: 0] += 1 }
        do {
            return try await route(request)
        } catch let refusal as Refusal {
            return try .refusal(refusal)
        }
    }

    private func route(_ request: HTTPRequest) async throws -> HTTPResponse {
        var path = request.path.split(separator: "/").map(String.init)
        let isLegacy = path.first == "legacy"
        if isLegacy { path.removeFirst() }
        let unknown = Refusal(
            errcode: 404, msg: "there is no \(request.method.rawValue) \(request.path)", status: .notFound)
        guard path.count <= 2 else { throw unknown }

        switch (request.method == .HEAD ? .GET : request.method, path.first, path.dropFirst().first) {
        case (.GET, "goods", nil): return try await goods(request)
        case (.GET, "goods", let id?): return try .success(Self.goods(id))
        case (.GET, "flaky", nil): return try flaky(request)
        case (.POST, "login", nil): return try await login(request)
        case (.POST, "expire", nil): return try expire(request)
        case (.GET, "orders", let id):
            return try orders(request, id: id, expired: isLegacy ? .loginExpired : .unauthorized)
        case (.GET, "download", nil): return try download(request)
        case (.GET, "stats", nil): return try .success(counters.statistics)
        default: throw unknown
        }
    }

    /// Whether `event` happens for the first, second … or `times`th time for that key.
    private func happens(_ event: String, key: String, times: Int = 1) -> Bool {
        happened.withLock { happened in
            let count = happened["\(event) \(key)", default: 0] + 1
            happened["\(event) \(key)"] = count
            return count <= times
        }
    }

    // Goods

    private func goods(_ request: HTTPRequest) async throws -> HTTPResponse {
        let page = try request.number("page", or: 1, in: 1...1_000_000)
        let pageSize = try request.number("pageSize", or: 10, in: 1...100)
        let run = request.query["run"] ?? ""
        if try request.number("failPage", or: 0, in: 0...1_000_000) == page, happens("fail \(page)", key: run)
        {
            throw Refusal.unavailable
        }
        if try request.number("stallPage", or: 0, in: 0...1_000_000) == page,
            happens("stall \(page)", key: run)
        {
            // Longer than the server lets a handler live, which cancels this.
            try await Task.sleep(for: .seconds(3600))
        }
        let all = Goods.all
        let list = all.dropFirst((page - 1) * pageSize).prefix(pageSize)
        return try .success(GoodsPage(list: Array(list), page: page, pageSize: pageSize, total: all.count))
    }

    private static func goods(_ id: String) throws(Refusal) -> Goods {
        guard let goods = Goods.all.first(where: { String($0.id) == id }) else {
            throw .notFound("there are no goods with the id \(id)")
        }
        return goods
    }

    private func flaky(_ request: HTTPRequest) throws -> HTTPResponse {
        let key = request.query["key"] ?? ""
        let times = try request.number("times", or: 2, in: 0...1000)
        let seconds = try request.number("after", or: 1, in: 0...3600)
        if happens("flaky", key: key, times: times) {
            var refusal = Refusal.unavailable
            refusal.headers = [HTTPHeader("Retry-After"): String(seconds)]
            throw refusal
        }
        return try .success(["key": key])
    }

    // Accounts

    private func login(_ request: HTTPRequest) async throws -> HTTPResponse {
        let login = try await request.document(Login.self)
        // As long as a login takes, so that others come meanwhile.
        try await Task.sleep(for: .milliseconds(200))
        let token = try accounts.token(for: login)
        counters.count { $0.logins += 1 }
        return try .success(["token": token])
    }

    private func expire(_ request: HTTPRequest) throws -> HTTPResponse {
        let uses = try request.number("uses", or: .max, in: 0...Int.max)
        accounts.expire(usesFromNowOn: uses)
        return try .success(["expired": true])
    }

    private func orders(_ request: HTTPRequest, id: String?, expired: Refusal) throws -> HTTPResponse {
        guard let user = accounts.user(authorization: request.headers[.authorization]) else { throw expired }
        let orders = Order.orders(of: user)
        guard let id else { return try .success(orders) }
        guard let order = orders.first(where: { String($0.id) == id }) else {
            throw Refusal.notFound("there is no order \(id)")
        }
        return try .success(order)
    }

    // Download

    private func download(_ request: HTTPRequest) throws -> HTTPResponse {
        let size = try request.number("size", or: 64 << 20, in: 0...(1 << 40))
        let rate = try request.number("rate", or: 100 << 16, in: 1...(1 << 40))
        let bytes = PacedBytes(count: size, bytesPerSecond: rate, counters: counters)
        return HTTPResponse(
            statusCode: .ok, headers: [.contentType: "application/octet-stream"],
            body: HTTPBodySequence(from: bytes, count: size, suggestedBufferSize: 1 << 16))
    }
}

extension Refusal {
    fileprivate static let unauthorized = Refusal(
        errcode: 11010, msg: "please log in", status: .unauthorized,
        headers: [HTTPHeader("WWW-Authenticate"): "Bearer"])
    fileprivate static let loginExpired = Refusal(errcode: 11010, msg: "please log in")
}
