import RxNetworking

func download(_ client: Client) {
    client.download(.get("/map.osm"), to: "/var/lib/app/map.osm").subscribe(
        onNext: { event in
            switch event {
            case .progress(let progress): show(progress.fraction ?? 0)
            case .finished(let file): show(file.size)
            }
        },
        onFailure: { error in show(error.message) })

    client.download(
        InlineEndpoint(.get, "/map.osm", query: ["expires": "1735689600", "token": "abc"]),
        to: "/var/lib/app/map.osm",
        ignoringQuery: ["expires", "token"]
    )
    .subscribe()
}

func saveAReport(_ client: Client, in files: any FileSystem) {
    client.stream(.post("/report", .json(["year": 2026]))).file(at: "/tmp/report.pdf", in: files)
        .subscribe(onFinish: { show("saved") })
}

func watchProgress(_ client: Client) {
    client.stream(.get("/report")).downloadProgress()
        .subscribe(onNext: { progress in show(progress.fraction ?? 0) })
}
