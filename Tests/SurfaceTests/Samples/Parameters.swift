import FoundationEssentials
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
    configuration.parameterStyle = ParameterStyle(lists: .brackets, usesDots: true)
    return configuration
}

func sendModels(_ client: Client) -> Observable<Response, NetworkError> {
    let bought = client.post("/cart", .json([NewGoods(name: "tea", price: 3)]), query: ["lang": "en"])
    return bought
}

struct Filter: Encodable, Sendable {
    let keyword: String
    let maxPrice: Decimal
}

func sendAModelAsQuery(_ client: Client) -> Observable<Response, NetworkError> {
    let cheap = client.get("/goods", query: Filter(keyword: "绿茶", maxPrice: 9.99))
    return cheap
}

func chooseFormats(
    _ configuration: inout ClientConfiguration, _ client: Client, title: String,
    pack: @escaping @Sendable (any Encodable & Sendable) throws -> [UInt8]
) -> Observable<Response, NetworkError> {
    configuration.parameterFormat = .custom(contentType: "application/msgpack") { value in try pack(value) }
    let photo = client.post("/photos", .standard(["title": title]).sent(as: .multipart))
    configuration.parameterStyle.query = { pairs in
        pairs.map { "\($0.name):\(PercentEncoding.segment($0.value))" }.joined(separator: ",")
    }
    return photo
}

func fillAPath(_ client: Client, userID: Int) -> Observable<Response, NetworkError> {
    let orders = client.get("/users/{id}/orders", at: ["id": userID])
    return orders
}

func fillSeveralSegments(_ client: Client, key: String) -> (Observable<Response, NetworkError>, String) {
    let photo = client.get("/photos/{key...}", at: ["key": "2026/green tea+milk.jpg"])
    let canonicalPath = PercentEncoding.path("/photos/" + key)
    return (photo, canonicalPath)
}

func rewriteAndSign(
    _ configuration: inout ClientConfiguration, key: String, hash: @escaping @Sendable (String) -> String
) {
    @Sendable func digest(of text: String) -> String { hash(text) }
    configuration.rewriteParameters = { parameters in parameters.adding(["version": "1.0.0"]) }
    configuration.signature = .parameters { content in
        ["sign": digest(of: content.canonicalQuery + key)]
    }
    configuration.signature = .headers { content in
        ["X-Signature": digest(of: content.request.method.rawValue + content.canonicalQuery + key)]
    }
}
