import RxNetworking

extension Recipe {
    static let unwrapEnvelope = Recipe(
        "Unwrapping the envelope",
        "Success gives the typed payload; failure gives the server's code and message."
    ) { stage in
        // Code
        let client = Client(baseURL: stage.baseURL)
        let envelope = Envelope(code: "errcode", message: "msg", payload: "data", success: 200)
        let known = client.get("/goods/7").unwrap(envelope).decode(Goods.self)
        let unknown = client.get("/goods/99").unwrap(envelope).decode(Goods.self)
        // Shown
        let (values, error) = await stage.play(known)
        stage.expect(values.first?.id == 7 && error == nil, "the payload of a success is decoded")
        let (none, failure) = await stage.play(unknown)
        stage.expect(none.isEmpty, "a failure has no value")
        stage.expect(failure?.code == .envelope && failure?.envelopeCode == "10404", "the code is kept")
        stage.result("errcode \(failure?.envelopeCode ?? "?"): \(failure?.message ?? "?")")
    }
}
