import FoundationEssentials
import RxNetworking

func authenticateClient(password: String) {
    var configuration = ClientConfiguration(baseURL: "https://files.example.com")
    configuration.authentication = .digest(user: "anna", password: password)
    let client = Client(configuration: configuration, transport: CurlTransport.shared)
    show(client)
}

func authenticateRequest(url: URL, password: String) throws {
    var request = Request(url: url)
    try request.authenticate(by: .basic(user: "anna", password: password))
    show(request)
}
