import Foundation
import RxNetworking

extension Recipe {
    static let uploadPictures = Recipe(
        "Uploading pictures",
        "Three forms with files, two at a time, read from disk while they are sent; each with its progress."
    ) { stage in
        let app = stage.app
        let folder = try Folder()
        let rate = 6 << 20
        let sizes = [("kettle.png", 5 << 20), ("cup.png", 6 << 20), ("pot.png", 4 << 20)]
        let files = try sizes.map { name, size in
            (name: name, path: try folder.file(name, size: size), size: size)
        }
        // Code
        let uploads = files.enumerated().map { index, file in
            app.client.pictures.upload(file.path, rate: rate).queued(in: app.uploads).map { (index, $0) }
        }
        // Shown
        var bars = files.map { ProgressBar(label: $0.name) }
        var pictures: [Int: Picture] = [:]
        for try await (index, event) in Observable.merge(uploads).values(buffering: .unbounded) {
            switch event {
            case .uploaded(let progress): bars[index].progress = progress
            case .downloaded: break
            case .finished(let answer):
                pictures[index] = answer.output
                stage.note("the shop has \(answer.output.fileName), \(answer.output.bytes) bytes")
            }
            stage.panel.show(bars.map(\.row))
        }
        stage.panel.close()
        for await _ in app.uploads.allComplete { stage.note("all uploads are complete") }
        for (index, file) in files.enumerated() {
            let picture = pictures[index]
            stage.expect(
                picture?.fileName == file.name && picture?.bytes == file.size
                    && picture?.contentType == "image/png",
                "\(file.name) arrives complete, with its name and type")
            stage.expect(bars[index].progress.fraction == 1, "the bar of \(file.name) is full at the end")
        }
        stage.result("\(pictures.count) pictures, \(pictures.values.reduce(0) { $0 + $1.bytes }) bytes")
    }
}
