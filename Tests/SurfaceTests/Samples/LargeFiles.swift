import RxNetworking
import RxTransfers

private struct Film: Codable, Sendable { let path: String, name: String }

private func show(_: Double, _: Duration?) {}
private func show(_: String, _: Duration) {}
private func show(_: Int64, _: TransferDigest?) {}

private func upload(_ client: Client) {
    client.upload(.file("/home/ann/film.mp4"), to: .post("/films"), by: .resumable())
        .subscribe(
            onNext: { event in
                switch event {
                case .progress(let rate): show(rate.fraction ?? 0, rate.timeLeft)
                case .paused(let error, for: let delay): show(error.message, delay)
                case .finished(let response): show(response.status)
                case .started, .resumed, .verified: break
                }
            },
            onFailure: { error in show(error.message) })
}

@Statements
private func uploadCarefully(_ client: Client, _ path: String) -> [Any] {
    var options = UploadMethod.Options()
    options.partSize = 16 << 20
    options.partDigest = .sha256
    client.upload(.file(path), to: .post("/films"), by: .resumable(isCareful: true, options: options))

    client.upload(.file(path), to: .post("/files"), by: .tus(metadata: ["filename": "film.mp4"]))
    client.upload(
        .file(path), to: .put("/films/{key...}", at: ["key": "2026/film.mp4"]),
        by: .multipart(options: options))
}

private func uploadUnproven() {
    var options = UploadMethod.Options()
    options.digest = .none
    show(options)
}

private func download(_ client: Client, to path: String, _ published: String) async throws {
    var options = PartedDownload.Options()
    options.digest = TransferDigest(.sha256, hexadecimal: published)
    for try await event in client.download(.get("/map.osm"), to: path, parts: .automatic, options: options) {
        switch event {
        case .progress(let rate): show(rate.fraction ?? 0, rate.timeLeft)
        case .finished(let file): show(file.size, file.digest)
        case .started, .paused, .startedOver: break
        }
    }
}

private func queue(_ client: Client, _ path: String) {
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
    queue.bandwidth.bytesPerSecond = 500_000
    queue.add(Film(path: path, name: "tea"), priority: .high)
        .subscribe(onNext: { id in show(id) }, onFailure: { error in show(error.message) })
    queue.items.observable.subscribe { items in show(items.count) }
    queue.progress.observable.subscribe { rate in show(rate.fraction ?? 0, rate.timeLeft) }
}

private func folder(_ queue: TransferQueue<Film>, _ folder: String, _ names: [String]) {
    queue.add(contentsOf: names.map { Film(path: "\(folder)/\($0)", name: $0) })
        .subscribe(onNext: { ids in show(ids.count) }, onFailure: { error in show(error.message) })
}
