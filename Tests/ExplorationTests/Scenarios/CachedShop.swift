import HTTPTypes
import RxNetworking
import RxSimulation
import RxTesting

/// A resource of the simulated shop, with its terms.
struct CachedResource: Sendable {
    var path: String
    var maxAge: Int
    var whileRevalidate = 0
    var ifError = 0
    var neverStale = false
    /// How long each version lasts; `nil` for a resource that requests change.
    var period: Duration?
    var hasLanguages = false
    var hasAccounts = false

    static let all = [
        CachedResource(path: "/stock/1", maxAge: 5), CachedResource(path: "/stock/2", maxAge: 5),
        CachedResource(
            path: "/price", maxAge: 4, whileRevalidate: 60, ifError: 60, neverStale: true, period: .seconds(3)
        ),
        CachedResource(path: "/news", maxAge: 4, whileRevalidate: 6, period: .seconds(4)),
        CachedResource(path: "/weather", maxAge: 4, ifError: 20, period: .seconds(5)),
        CachedResource(path: "/page", maxAge: 5, period: .seconds(6), hasLanguages: true),
        CachedResource(path: "/me", maxAge: 5, period: .seconds(5), hasAccounts: true),
    ]

    /// The fields of each response.
    var headers: HTTPFields {
        var terms = "max-age=\(maxAge)"
        if whileRevalidate > 0 { terms += ", stale-while-revalidate=\(whileRevalidate)" }
        if ifError > 0 { terms += ", stale-if-error=\(ifError)" }
        if neverStale { terms += ", must-revalidate" }
        if hasAccounts { terms += ", private" }
        var headers: HTTPFields = [.cacheControl: terms]
        if hasLanguages { headers[.vary] = "Accept-Language" }
        return headers
    }

    /// How long a response may be delivered after its version is over, by the cache's part in it; `nil` without a limit.
    func limit(of use: Response.CacheUse?) -> Duration? {
        switch use {
        case .fresh: .seconds(maxAge)
        case .stale: .seconds(maxAge + max(whileRevalidate, ifError))
        default: nil
        }
    }

    func content(_ version: Int, language: String, account: String) -> String {
        "\(path) \(version) \(hasLanguages ? language : "-") \(hasAccounts ? account : "-")"
    }
}

/// The simulated server.
struct CachedShop: Sendable {
    /// The times at which requests have changed the resources, by path.
    private let changes = Kept<[String: [Duration]]>([:])
    /// The last version of a resource that time changes.
    private static let lastVersion = 12

    static func version(of content: String) -> Int {
        content.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? -1
    }

    func version(of resource: CachedResource, at time: Duration) -> Int {
        resource.period.map { min(Int(time / $0), Self.lastVersion) }
            ?? changes.now[resource.path, default: []].count
    }

    /// The time at which a version is over; `nil` for the last one.
    func end(of version: Int, of resource: CachedResource) -> Duration? {
        if let period = resource.period { return version < Self.lastVersion ? period * (version + 1) : nil }
        return changes.now[resource.path]?.dropFirst(version).first
    }

    func reply(to request: SimulatedRequest) -> ScriptedTransport.Reply {
        guard let resource = CachedResource.all.first(where: { $0.path == request.path }) else {
            return .status(.notFound)
        }
        if request.method == .put { changes { $0[resource.path, default: []].append(request.time) } }
        let account = request[.authorization]?.split(separator: " ").last.map(String.init)
        let content = resource.content(
            version(of: resource, at: request.time), language: request[.acceptLanguage] ?? "-",
            account: account ?? "-")
        var headers = resource.headers
        headers[.eTag] = "\"\(content)\""
        if request[.ifNoneMatch] == headers[.eTag] { return .status(.notModified, headers: headers) }
        return .json("\"\(content)\"", headers: headers)
    }
}

/// One kind of read.
struct CachedRead: Endpoint {
    typealias Output = String
    let resource: CachedResource
    let language: String
    /// The index of the account.
    let account: Int
    let name: String

    static let accounts = ["-", "anna", "bob"]
    static let all = CachedResource.all.flatMap { resource in
        if resource.hasLanguages { return ["de", "en"].map { CachedRead(resource, language: $0) } }
        return (resource.hasAccounts ? [1, 2] : resource.path == "/stock/1" ? [0, 1] : [0]).map {
            CachedRead(resource, account: $0)
        }
    }

    private init(_ resource: CachedResource, language: String = "-", account: Int = 0) {
        (self.resource, self.language, self.account) = (resource, language, account)
        name = "\(resource.path) \(language) \(Self.accounts[account])"
    }

    var path: String { resource.path }
    var options: RequestOptions {
        RequestOptions(headers: language == "-" ? [:] : ["Accept-Language": language])
    }

    func content(_ version: Int) -> String {
        resource.content(version, language: language, account: Self.accounts[account])
    }
}
