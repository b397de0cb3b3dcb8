import FoundationEssentials
import RxNetworking

func keepCookies() {
    var configuration = ClientConfiguration()
    configuration.cookies = CookieJar()
    let client = Client(baseURL: "https://api.example.com/v1", configuration: configuration)
    show(client)
}

func keepCookiesInAFile() async throws {
    let jar = CookieJar(file: "/var/lib/app/cookies.json")

    try await jar.flush().value()

    jar.removeAll()
    jar.removeAll(domain: "example.com")
    jar.removeSessionCookies()
}

func lookIntoAJar(_ jar: CookieJar) {
    for cookie in jar.cookies { print(cookie) }
    jar.events.subscribe { event in
        switch event {
        case .stored(let cookie): print("set:", cookie)
        case .removed(let cookie): print("gone:", cookie)
        case .refused(let reason, let url): print("refused from \(url):", reason)
        case .storageFailed(let error): print(error)
        }
    }
}

func setACookie(in jar: CookieJar, for url: URL) throws {
    try jar.set("theme=dark; Path=/; Max-Age=86400", from: url)
    try jar.set("theme=; Path=/; Max-Age=0", from: url)
}

func carryAJar(_ jar: CookieJar) throws {
    let bytes = try jar.dump()
    try CookieJar().restore(from: bytes)
}

func exchangeCookiesWithCurl(_ jar: CookieJar) throws {
    try jar.netscapeFile().write(toFile: "/tmp/cookies.txt", atomically: true, encoding: .utf8)
    jar.restore(fromNetscape: try String(contentsOfFile: "/tmp/cookies.txt", encoding: .utf8))
    try jar.set(Cookie(name: "theme", value: "dark", domain: "shop.example.com"))
}

func keepCookiesElsewhere(upload: @escaping @Sendable ([UInt8]) -> Observable<Void, NetworkError>) {
    let custom = CookieJar(
        publicSuffixes: PublicSuffixes { domain in ["com", "internal"].contains(domain) },
        storage: CookieStorage(load: .just(nil)) { bytes in upload(bytes) })
    show(custom)
}
