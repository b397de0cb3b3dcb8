import RxNetworking
import RxTransfers

private func show(_: Double?, _: Duration?) {}
private func show(_: String, _: Duration) {}

private func upload(_ client: Client) {
    client.upload(.file("/home/ann/film.mp4"), to: .post("/films"), by: .resumable())
        .subscribe(onNext: { event in
            switch event {
            case .progress(let rate): show(rate.fraction, rate.timeLeft)
            case .paused(let error, for: let delay): show(error.message, delay)
            case .finished(let response): show(response.status)
            case .started, .resumed, .verified: break
            }
        })
}

@Statements
private func methods(_ client: Client, _ path: String) -> [Any] {
    client.upload(.file(path), to: .post("/files"), by: .resumable())
    client.upload(.file(path), to: .post("/files"), by: .tus(metadata: ["filename": "tea.jpg"]))
}

private func parts(_ client: Client, _ published: String) {
    var options = PartedDownload.Options()
    options.digest = TransferDigest(.sha256, hexadecimal: published)
    let download = client.download(
        .get("/map.osm"), to: "/var/lib/app/map.osm", parts: .automatic, options: options)
    show(download)
}

private func bandwidth() {
    let bandwidth = TransferBandwidth(bytesPerSecond: 500_000)
    var options = PartedDownload.Options()
    options.bandwidth = bandwidth
    bandwidth.bytesPerSecond = nil
    show(options)
}

private enum Queues {
    struct Film: Codable, Sendable { let path: String, name: String }

    static func make(_ client: Client, _ path: String, _ list: Widget) {
        let queue = TransferQueue<Film>(
            on: client.transport.scheduler, limit: 2, storedAt: "/var/lib/app/queue.json",
            in: client.transport.files
        ) { film, bandwidth in
            var options = UploadMethod.Options()
            options.bandwidth = bandwidth
            return client.upload(
                .file(film.path), to: .put("/films/{name}", at: ["name": film.name]),
                by: .resumable(options: options)
            )
            .rates()
        }
        queue.add(Film(path: path, name: "tea"), priority: .high)
        queue.items.observable.subscribe { items in list.show(items) }
    }
}
