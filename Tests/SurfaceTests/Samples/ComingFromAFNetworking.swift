import RxNetworking

struct ShopList: Endpoint {
    typealias Output = [Goods]
    let path = "/mall/shopList"
    let method = HTTPRequest.Method.post
}

struct AddToCart: Endpoint {
    typealias Output = Void
    let goodsID: String
    let path = "/mall/addCart"
    let method = HTTPRequest.Method.post
    var parameters: Parameters { .json(["goods_id": goodsID, "number": 1]) }
}

func showAShop(client: Client, operatingGoods: String) {
    client.request(ShopList()).subscribe(isolatedTo: MainActor.self, onNext: { goods in screen.show(goods) })
    client.request(AddToCart(goodsID: operatingGoods))
        .subscribe(isolatedTo: MainActor.self, onNext: { screen.tell("In the cart") })
}

func showWhatGoesOn(client: Client) {
    client.activity.isActive
        .subscribe(isolatedTo: MainActor.self, onNext: { isOn in screen.spin(isOn) })
    client.errorTips.subscribe(isolatedTo: MainActor.self, onNext: { error in screen.tell(error.message) })
}

func pageThroughAShop(client: Client, loadMore: Signal<Void>, reload: Signal<Void>) {
    let rule = PagingRule.numbered(size: 10, startKey: "page_start", last: .short)
    client.pages(ShopList(), rule, next: loadMore, reload: reload)
        .subscribe(isolatedTo: MainActor.self, onNext: { list in screen.show(list.items) })
}

func configureAsOneNetwork(token: String) {
    var configuration = ClientConfiguration()
    configuration.options.timeouts = Timeouts(total: .seconds(45))
    configuration.options.headers = ["token": token]
    configuration.options.envelope = Envelope(code: "code", message: "message", payload: "data", success: 0)
    let client = Client(baseURL: "https://api.example.com", configuration: configuration)
    show(client)
}

func sendAText(client: Client, secret: String) {
    client.post("/pay", .text(secret)).decode(Receipt.self)
        .subscribe(onNext: { receipt in show(receipt) }, onFailure: { error in show(error.message) })
}

struct Receipt: Decodable, Sendable {}

struct Weather: Decodable, Sendable {
    enum CodingKeys: String, CodingKey { case text = "Weather" }
    let text: String
}

struct WeatherAt: Endpoint {
    typealias Output = Weather
    let latitude: String
    let longitude: String
    let path = "/getweather.aspx"
    var parameters: Parameters { .query(["lat": latitude, "lng": longitude]) }
}

func askForTheWeather(client: Client) {
    client.request(WeatherAt(latitude: "34.345", longitude: "113.678"))
        .subscribe(isolatedTo: MainActor.self, onNext: { weather in screen.tell(weather.text) })
}

func configureTwoServers() {
    var configuration = ClientConfiguration()
    configuration.standbyURL = "https://standby.example.com"
    let client = Client(baseURL: "https://api.example.com", configuration: configuration)
    show(client)
}

func processAll() {
    var configuration = ClientConfiguration()
    configuration.rewriteParameters = { parameters in parameters.adding(["version": "1.0.0"]) }
    configuration.options.envelope = Envelope(
        code: "ok", message: "message", payload: "result", success: true)
    show(configuration)
}

struct CloverCount: Endpoint {
    typealias Output = Int
    let path = "/clover"
    let options = RequestOptions(headers: ["Accept": "application/json"], part: "count")
}

func uploadImages(client: Client, images: [String]) {
    let upload = InlineEndpoint(
        .post, "/images", .multipart(images.map { .file("image", $0, contentType: "image/jpeg") }))
    client.progress(of: upload).subscribe(isolatedTo: MainActor.self) { event in
        switch event {
        case .uploaded(let progress): screen.fill(progress.fraction ?? 0)
        case .downloaded: break
        case .finished(let result): screen.tell("\(result.response.status)")
        }
    }
}

final class ImagePicker: Sendable {
    private let client: Client
    private let uploads = RequestQueue()

    init(client: Client) { self.client = client }

    func picked(_ image: String) {
        client.put("/images", .file(image)).queued(in: uploads).subscribe()
    }

    func done() {
        uploads.allComplete.subscribe { show("all are there") }
    }
}

func cancelAsTasks(client: Client, file: String, folder: String) {
    let upload = client.put("/files", .file(file)).subscribe(onNext: { response in show(response.status) })
    let download = client.download(.get("/map.osm"), to: folder + "/map.osm")
        .subscribe(onNext: { event in show(event) }, onFailure: { error in show(error) })

    upload.cancel()
    download.cancel()
    client.cancel(.url("/map.osm"))
    client.cancel(.all)
}

func storeResponses(client: Client, words: String) {
    var configuration = ClientConfiguration()
    configuration.options.cachePolicy = .time(.seconds(300))

    let search = RequestOptions(cachePolicy: .post(.seconds(60)))
    client.post("/search", .json(["words": words]), options: search).subscribe(onNext: { response in
        show(response.isFromCache)
    })
    show(configuration)
}

struct Ad: Decodable, Sendable {}

struct AdQuery: Encodable, Sendable {
    let type: String
}

func sendModels(client: Client, image: [UInt8]) {
    client.request(InlineEndpoint(.get, "/ads", .query(AdQuery(type: "banner")))).decode([Ad].self)
        .subscribe(onNext: { ads in show(ads) }, onFailure: { error in show(error.message) })

    client.post("/ads", .json([AdQuery(type: "banner"), AdQuery(type: "popup")]))
        .subscribe(onNext: { response in show(response) }, onFailure: { error in show(error.message) })

    client.post(
        "/images", .multipart([.bytes("file", image, fileName: "boris.png", contentType: "image/png")])
    )
    .subscribe(onNext: { response in show(response) }, onFailure: { error in show(error.message) })
}
