import RxNetworking

extension Recipe {
    static let typedGet = Recipe(
        "A typed GET", "From a path to a value in one line; nothing is sent before a subscription."
    ) { stage in
        // Code
        let client = Client.shop(stage.baseURL, named: "goods")
        let goods = client.get("/goods/7").decode(Goods.self)
        // Shown
        let (values, _) = await stage.play(goods)
        stage.expect(values.first?.id == 7 && values.count == 1, "the requested goods arrive once")
        stage.result("\(values.first?.name ?? "nothing") for \(values.first?.price ?? 0)")
    }
}
