import FoundationEssentials
import RxNetworking

func configureConnections() {
    var connections = CurlTransport.Configuration()
    connections.maxConnectionsPerOrigin = 8
    connections.idleConnectionLifetime = .seconds(30)
    let transport = CurlTransport(loop: .shared, configuration: connections)
    let client = Client(baseURL: "https://api.example.com", transport: transport)
    show(client)

    let loops = [EventLoop(name: "net 1"), EventLoop(name: "net 2")]
    let wide = CurlTransport(loops: loops, configuration: connections)
    show(wide)

    connections.httpVersion = .automatic
    connections.alternativeServicesPath = "/var/lib/app/alternatives.txt"
    connections.onAlternativeServicesFailure = { error in show("\(error)") }

    connections.nameLifetime = .seconds(30)
    connections.hostOverrides = [.init(host: "api.example.com", port: 443, addresses: ["192.0.2.7"])]
    connections.connectTo = [
        .init(host: "api.example.com", port: 443, toHost: "canary.example.net", toPort: 8443)
    ]
    connections.addressFamily = .ipv4
    connections.networkInterface = "if!eth1"

    connections.dnsOverHTTPS = "https://192.0.2.53/dns-query"

    connections.proxy = Proxy(
        "http://me:secret@proxy.example.com:3128", exceptions: ["localhost", ".example.com"])

    var office = Proxy("http://me:secret@proxy.example.com:3128")
    office.usesDigest = true
    office.tunnelsHTTP = true
    connections.proxy = office
}

func takeBodiesAsTheyCome(client: Client) async throws {
    let coded = RequestOptions(headers: ["Accept-Encoding": "gzip"], decodesContent: false)
    let response = try await client.get("/backups/today", options: coded).value()
    show("\(response.body.count) bytes of gzip")
}

func chooseRedirects() {
    var configuration = ClientConfiguration(baseURL: "https://api.example.com/v1")
    configuration.redirects = RedirectPolicy(limit: 5, keepsPost: true)
    if let url = URL(string: "https://files.example.com"), let files = Origin(url) {
        configuration.redirects.trustedOrigins = [files]
    }
    show(configuration)
}

func handOutARedirect(client: Client, request: Request) async throws {
    let response = try await client.exchange(request, following: .manual).response(to: request).value()
    show(response.head[.location] ?? "no redirect")
}

func forbidPrivateAddresses() {
    var careful = CurlTransport.Configuration()
    careful.forbidsPrivateAddresses = true
    careful.proxy = .none
    show(careful)
}

func secureConnections(currentKey: String, nextKey: String) {
    var secure = CurlTransport.Configuration()
    secure.tls.requiresTLS13 = true
    secure.tls.caBundlePath = "/etc/shop/authorities.pem"  // instead of the system's
    secure.tls.clientCertificatePath = "/etc/shop/client.pem"
    secure.tls.clientKeyPath = "/etc/shop/client.key"

    secure.tls.pinnedPublicKey = "sha256//\(currentKey);sha256//\(nextKey)"
    secure.hsts = HSTSStore(file: "/var/lib/shop/hsts.txt")
    show(secure)
}

func tellTLSFailuresApart(client: Client) async {
    do {
        show(try await client.get("/").value())
    } catch {
        switch error.tlsFailure {
        case .expired: print("the certificate has expired")
        case .hostMismatch: print("the certificate is for another host")
        case .unknownAuthority, .selfSigned: print("no trusted authority has signed the certificate")
        case .pinMismatch: print("the key matches no pinned key")
        default: print(error)
        }
    }
}
