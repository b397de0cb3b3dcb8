import RxNetworking

let client = Client(baseURL: CommandLine.arguments[1])
do {
    let response = try await client.get("/goods", query: ["keyword": "tea"]).value()
    print(response.text)
} catch {
    print(error.code, error.message)
}
