import FoundationEssentials
import RxNetworking

func sendFiles(with client: Client) {
    let photo = client.put("/photos/1", .file("/srv/photos/tea.jpg", contentType: "image/jpeg"))
    let note = client.post("/notes", .body(.bytes([0xCA, 0xFE]), contentType: "application/octet-stream"))
    let goods = client.post(
        "/goods",
        .multipart([
            .text("name", "Green tea"),
            .bytes("label", [0x89, 0x50], fileName: "label.png", contentType: "image/png"),
            .file("photo", "/srv/photos/tea.jpg", contentType: "image/jpeg"),
        ]))
    show([photo, note, goods])
}

func sendStreams(with client: Client) {
    let chunks = Observable<[UInt8], NetworkError>.sequence([Array("one\n".utf8), Array("two\n".utf8)])
    let once = client.post("/log", .body(.stream(chunks), contentType: "text/plain"))
    let again = client.put("/log/1", .body(.stream(chunks, length: 8, isReplayable: true)))
    show([once, again])
}

func sendAForm(to url: URL) throws {
    let form = Multipart([.text("name", "Green tea")], boundary: "form-1")
    var request = Request(method: .post, url: url, body: try form.body())
    request.headerFields[.contentType] = form.contentType
    show(request)
}

func askFirst() {
    var configuration = ClientConfiguration()
    configuration.options.continuePolicy = .from(1 << 20)
    show(configuration)
}

func compress(with client: Client) async throws {
    let log = Parameters.file("/var/log/shop.log", contentType: "text/plain")
    let logged = try await client.post("/log", log, options: RequestOptions(compressesContent: true)).value()
    show(logged)
}

func upload(with client: Client) async throws {
    let stored = try await client.put("/photos/1", .file("/srv/photos/tea.jpg")).value()
    show(stored)

    for try await event in client.progress(of: .put("/photos/1", .file("/srv/photos/tea.jpg"))) {
        switch event {
        case .uploaded(let progress): show(progress.fraction ?? 0)
        case .downloaded: break
        case .finished(let result): show(result.response.status.code)
        }
    }
}
