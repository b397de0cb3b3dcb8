import FlyingFox
import Synchronization

/// Parses the requests of the demo API and responds to them.
final class Shop: Sendable {
    let counters = Counters()
    let authorization: AuthorizationServer
    private let accounts: Accounts
    private let carts = Carts()
    private let book = OrderBook()
    private let isClosed = Atomic(false)
    private let isSilent = Atomic(false)
    /// The number of occurrences of each limited event, by its name and the caller's key.
    private let happened = Mutex<[String: Int]>([:])

    init() {
        accounts = Accounts()
        authorization = AuthorizationServer(accounts: accounts)
    }

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
            errcode: 404, msg: "unknown request: \(request.method.rawValue) \(request.path)",
            status: .notFound)
        guard path.count <= 2 else { throw unknown }
        if isClosed.load(ordering: .relaxed), path.first != "closed", path.first != "stats" {
            throw Refusal.unavailable
        }

        if let response = try await authorize(request, path) { return response }
        switch (request.method == .HEAD ? .GET : request.method, path.first, path.dropFirst().first) {
        case (.GET, "goods", nil): return try await goods(request)
        case (.GET, "goods", let id?): return try .success(Goods.find(Int(id)))
        case (.GET, "offers", nil): return try offers(request)
        case (.GET, "flaky", nil): return try flaky(request)
        case (.POST, "login", nil): return try await login(request)
        case (.POST, "logout", nil): return try logout(request)
        case (.POST, "expire", nil): return try expire(request)
        case (.GET, "cart", nil): return try .success(carts.cart(of: user(of: request)))
        case (.POST, "cart", nil):
            let user = try user(of: request)
            return try .success(carts.add(try await request.document(Choice.self), for: user))
        case (.POST, "pictures", nil): return try await pictures(request)
        case (.GET, "orders", let id):
            return try orders(request, id: id, expired: isLegacy ? .loginExpired : .unauthorized)
        case (.POST, "orders", nil): return try await place(request)
        case (.GET, "download", nil): return try download(request)
        case (.GET, "brochure", nil): return try brochure(request)
        case (.GET, "chat", nil): return try await chat(request)
        case (.POST, "answers", nil): return try await answer(to: request)
        case (.GET, "prices", nil): return try prices(request)
        case (.PUT, "closed", let isOn?):
            isClosed.store(isOn == "yes", ordering: .relaxed)
            return try .success(["closed": isOn])
        case (.PUT, "silent", let isOn?):
            isSilent.store(isOn == "yes", ordering: .relaxed)
            return try .success(["silent": isOn])
        case (.GET, "stats", nil): return try .success(counters.statistics)
        default: throw unknown
        }
    }

    /// Whether this is one of the first `times` occurrences of `event` for the key.
    func happens(_ event: String, key: String, times: Int = 1) -> Bool {
        happened.withLock { happened in
            let count = happened["\(event) \(key)", default: 0] + 1
            happened["\(event) \(key)"] = count
            return count <= times
        }
    }

    // Chat

    private func chat(_ request: HTTPRequest) async throws -> HTTPResponse {
        let breakAt = try request.number("breakAt", or: 0, in: 0...1_000_000)
        let run = request.query["run"] ?? ""
        let room = ChatRoom { [self] number in number == breakAt && happens("chat", key: run) }
        return try await WebSocketHTTPHandler(handler: MessageFrameWSHandler(handler: room))
            .handleRequest(request)
    }

    // Goods

    private func goods(_ request: HTTPRequest) async throws -> HTTPResponse {
        let page = try request.number("page", or: 1, in: 1...1_000_000)
        let pageSize = try request.number("pageSize", or: 10, in: 1...100)
        try fail(request, page, of: "goods")
        let run = request.query["run"] ?? ""
        if try request.number("stallPage", or: 0, in: 0...1_000_000) == page,
            happens("stall \(page)", key: run)
        {
            // Longer than the server's handler timeout, which cancels the sleep.
            try await Task.sleep(for: .seconds(3600))
        }
        var all = Goods.all
        if let keyword = request.query["keyword"]?.lowercased() {
            all = all.filter { $0.name.lowercased().contains(keyword) }
        }
        return try .success(ShopPage(of: all, page, pageSize))
    }

    /// Fails once in each run for the page `failPage`.
    private func fail(_ request: HTTPRequest, _ page: Int, of list: String) throws {
        guard try request.number("failPage", or: 0, in: 0...1_000_000) == page,
            happens("fail \(list) \(page)", key: request.query["run"] ?? "")
        else { return }
        throw Refusal.unavailable
    }

    /// The same for all users, fresh for a minute.
    private func offers(_ request: HTTPRequest) throws -> HTTPResponse {
        let tag = "\"offers-1\""
        let isKnown = request.headers[HTTPHeader("If-None-Match")] == tag
        var response =
            isKnown
            ? HTTPResponse(statusCode: HTTPStatusCode(304, phrase: "Not Modified"))
            : try HTTPResponse.success(Array(Goods.all.prefix(3)))
        response.headers[HTTPHeader("Cache-Control")] = "max-age=60"
        response.headers[HTTPHeader("ETag")] = tag
        return response
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
        // The time of a login, so that other requests arrive meanwhile.
        try await Task.sleep(for: .milliseconds(200))
        let token = try accounts.token(for: login)
        counters.count { $0.logins += 1 }
        var response = try HTTPResponse.success(["token": token])
        response.headers[HTTPHeader("Set-Cookie")] = "visitor=\(login.user); Path=/; Max-Age=86400; HttpOnly"
        return response
    }

    private func logout(_ request: HTTPRequest) throws -> HTTPResponse {
        let user = try user(of: request)
        carts.empty(for: user)
        accounts.logOut(authorization: request.headers[.authorization])
        return try .success(["bye": user])
    }

    private func user(of request: HTTPRequest) throws(Refusal) -> String {
        guard let user = accounts.user(authorization: request.headers[.authorization]) else {
            throw .unauthorized
        }
        return user
    }

    private func expire(_ request: HTTPRequest) throws -> HTTPResponse {
        let uses = try request.number("uses", or: .max, in: 0...Int.max)
        accounts.expire(usesFromNowOn: uses)
        return try .success(["expired": true])
    }

    private func orders(_ request: HTTPRequest, id: String?, expired: Refusal) throws -> HTTPResponse {
        guard let user = accounts.user(authorization: request.headers[.authorization]) else { throw expired }
        let orders = Order.orders(of: user)
        guard let id else {
            guard request.query["page"] != nil else { return try .success(orders) }
            let page = try request.number("page", or: 1, in: 1...1_000_000)
            try fail(request, page, of: "orders")
            let pageSize = try request.number("pageSize", or: 10, in: 1...100)
            return try .success(ShopPage(of: orders, page, pageSize))
        }
        guard let order = orders.first(where: { String($0.id) == id }) else {
            throw Refusal.notFound("no order has the id \(id)")
        }
        return try .success(order)
    }

    private func place(_ request: HTTPRequest) async throws -> HTTPResponse {
        let key = request.headers[HTTPHeader("Idempotency-Key")]
        let (confirmation, isRepeated) = try book.place(
            try await request.document(Choice.self), key: key)
        counters.count { statistics in
            if isRepeated { statistics.ordersRepeated += 1 } else { statistics.ordersPlaced += 1 }
        }
        // Longer than the server's handler timeout, which cancels the sleep.
        if isSilent.load(ordering: .relaxed) { try await Task.sleep(for: .seconds(3600)) }
        return try .success(confirmation)
    }

    // Files

    private func pictures(_ request: HTTPRequest) async throws -> HTTPResponse {
        _ = try user(of: request)
        let rate = try request.number("rate", or: 100 << 16, in: 1...(1 << 40))
        return try .success(try await Picture.uploaded(by: request, bytesPerSecond: rate))
    }

    private func brochure(_ request: HTTPRequest) throws -> HTTPResponse {
        var brochure = Brochure(
            size: try request.number("size", or: 4 << 20, in: 1...(1 << 40)),
            bytesPerSecond: try request.number("rate", or: 100 << 16, in: 1...(1 << 40)))
        let breakAfter = try request.number("breakAfter", or: 0, in: 0...(1 << 40))
        if breakAfter > 0, happens("break", key: request.query["run"] ?? "") {
            brochure.breaksAfter = breakAfter
        }
        return brochure.answer(to: request, counters: counters)
    }

    private func download(_ request: HTTPRequest) throws -> HTTPResponse {
        let size = try request.number("size", or: 64 << 20, in: 0...(1 << 40))
        let rate = try request.number("rate", or: 100 << 16, in: 1...(1 << 40))
        let bytes = PacedBytes(range: 0..<size, bytesPerSecond: rate, counters: counters)
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
