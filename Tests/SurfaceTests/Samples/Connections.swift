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

    connections.nameLifetime = .seconds(30)
    connections.hostOverrides = [.init(host: "api.example.com", port: 443, addresses: ["192.0.2.7"])]
    connections.addressFamily = .ipv4
    connections.networkInterface = "if!eth1"

    connections.proxy = Proxy(
        "http://me:secret@proxy.example.com:3128", exceptions: ["localhost", ".example.com"])
}

func takeBodiesAsTheyCome(client: Client) {
    var backup = Call(.get, "/backups/today", headers: ["Accept-Encoding": "gzip"])
    backup.decodesContent = false
    client.request(backup).subscribe(onNext: { response in show("\(response.body.count) bytes of gzip") })
}

func forbidPrivateAddresses() {
    var careful = CurlTransport.Configuration()
    careful.forbidsPrivateAddresses = true
    careful.proxy = .none
    show(careful)
}

func secureConnections(currentKey: String, nextKey: String) {
    var secure = CurlTransport.Configuration()
    secure.tls.minimumVersion = .tls13
    secure.tls.caBundlePath = "/etc/shop/authorities.pem"  // instead of the system's
    secure.tls.clientCertificatePath = "/etc/shop/client.pem"
    secure.tls.clientKeyPath = "/etc/shop/client.key"

    secure.tls.pinnedPublicKey = "sha256//\(currentKey);sha256//\(nextKey)"
    show(secure)
}

func tellTLSFailuresApart(client: Client) {
    client.get("/").subscribe(onFailure: { error in
        switch error.tlsFailure {
        case .expired: print("the certificate has expired")
        case .hostMismatch: print("the certificate is for another host")
        case .unknownAuthority, .selfSigned: print("nobody we trust vouches for this server")
        case .pinMismatch: print("the key is none of ours")
        default: print(error)
        }
    })
}
