import RxNetworking

func sendParameters(_ client: Client, password: String) -> [Observable<Response, NetworkError>] {
    let search = client.get("/goods", query: ["keyword": "green tea", "page": 1])
    let order = client.post("/cart", ["goods": 7, "count": 2])
    let login = client.post("/login", .form(["user": "anna", "password": password]))
    let note = client.put("/notes/7", .text("bought"))
    return [search, order, login, note]
}

func styleParameters() -> ClientConfiguration {
    var configuration = ClientConfiguration()
    configuration.parameterStyle = ParameterStyle(lists: .brackets, objects: .dots)
    return configuration
}

func fillAPath(_ client: Client, userID: Int) -> Observable<Response, NetworkError> {
    let orders = client.get("/users/{id}/orders", at: ["id": userID])
    return orders
}

func rewriteAndSign(
    _ configuration: inout ClientConfiguration, key: String, hash: @escaping @Sendable (String) -> String
) {
    @Sendable func digest(of text: String) -> String { hash(text) }
    configuration.rewriteParameters = { parameters in parameters.adding(["version": "1.0.0"]) }
    configuration.signature = Signature { content in
        .parameters(["sign": digest(of: content.canonicalQuery + key)])
    }
}
