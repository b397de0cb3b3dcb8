import RxNetworking

func download(_ client: Client) async throws {
    for try await event in client.download(.get("/map.osm"), to: "/var/lib/app/map.osm") {
        switch event {
        case .progress(let progress): show(progress.fraction ?? 0)
        case .finished(let file): show(file.size)
        }
    }

    let finished = try await client.download(
        InlineEndpoint(.get, "/map.osm", query: ["expires": "1735689600", "token": "abc"]),
        to: "/var/lib/app/map.osm",
        ignoringQuery: ["expires", "token"]
    )
    .last().value()
    show(finished)

    let report = try await client.download(.get("/reports/latest"), to: "/var/lib/app/reports").last().value()
    if case .finished(let file) = report { show(file.path) }  // /var/lib/app/reports/2026-03.pdf
}

func saveAReport(_ client: Client, in files: any FileSystem) async throws {
    let saved = try await client.stream(.post("/report", .json(["year": 2026])))
        .file(at: "/tmp/report.pdf", in: files).last().value()
    show(saved.bytes)
}

func watchProgress(_ client: Client) async throws {
    for try await progress in client.stream(.get("/report")).downloadProgress() {
        show(progress.fraction ?? 0)
    }
}

func saveState(_ state: String, in files: any FileSystem) async throws {
    let release = try await files.lock("/var/lib/app/state.json.lock").value()
    defer { release() }
    try await files.replace("/var/lib/app/state.json", with: Array(state.utf8)).value()
}
