import Foundation
import RxNetworking
import RxTransfers

/// A file to download: what the queue stores of it.
private struct Leaflet: Codable, Sendable {
    let name: String
    let size: Int
    /// The number of bytes after which the first connection breaks.
    var breakAfter = 0
}

extension Recipe {
    static let queueDownloads = Recipe(
        "A queue of downloads in parts",
        """
        Four files in two parts each, two files at a time. The connection of one breaks; another is paused, and resumed \
        at the end. Each is complete, and compared with its digest.
        """
    ) { stage in
        let folder = try Folder()
        let (mebibyte, run) = (1 << 20, "\(ContinuousClock.now)")
        let leaflets = [
            Leaflet(name: "teas.pdf", size: 4 * mebibyte),
            Leaflet(name: "cups.pdf", size: 3 * mebibyte, breakAfter: mebibyte / 2),
            Leaflet(name: "pots.pdf", size: 2 * mebibyte), Leaflet(name: "trays.pdf", size: mebibyte),
        ]
        let before = try await stage.app.client.statistics().value()
        // Code
        let client = stage.app.client
        let queue = TransferQueue<Leaflet>(
            on: client.transport.scheduler, limit: 2, storedAt: folder.path(of: "queue.json"),
            in: client.transport.files
        ) { leaflet, bandwidth in
            var options = PartedDownload.Options()
            options.bandwidth = bandwidth
            options.digest = TransferDigest(of: PartedDownload.content(of: leaflet.size), .sha256)
            options.backoff = .constant(.milliseconds(50))
            let endpoint = InlineEndpoint.get(
                "/brochure",
                query: [
                    "size": leaflet.size, "rate": 4 << 20, "breakAfter": leaflet.breakAfter,
                    "run": run + leaflet.name,
                ])
            return client.download(
                endpoint, to: folder.path(of: leaflet.name), parts: .count(2), options: options
            )
            .rates()
        }
        for leaflet in leaflets { queue.add(leaflet) }
        // Shown
        var bars = leaflets.map { ProgressBar(label: $0.name) }
        var (hasPaused, hasResumed, reached) = (false, false, Int64(0))
        for await items in queue.items.observable.values(buffering: .unbounded) {
            for (index, item) in items.enumerated() where index < bars.count {
                guard let rate = item.progress else { continue }
                bars[index].progress = TransferProgress(bytes: rate.bytes, expected: rate.expected)
            }
            stage.panel.show(bars.map(\.row))
            if let item = items.first, !hasPaused, item.progress?.fraction ?? 0 > 0.4 {
                (hasPaused, reached) = (true, item.progress?.bytes ?? 0)
                stage.note("\(item.job.name) is paused at \(reached) bytes")
                queue.pause(item.id)
            }
            if items.count == leaflets.count, !hasResumed, items.dropFirst().allSatisfy(\.hasEnded) {
                hasResumed = true
                stage.note("the others are complete; \(items[0].job.name) is resumed")
                queue.resume(items[0].id)
            }
            if items.count == leaflets.count, items.allSatisfy(\.hasEnded) { break }
        }
        stage.panel.close()
        let after = try await stage.app.client.statistics().value()
        let sent = after.downloadedBytes - before.downloadedBytes
        stage.expect(hasPaused && hasResumed && reached > 0, "a download is paused half-way, and resumed")
        for leaflet in leaflets {
            let content = FileManager.default.contents(atPath: folder.path(of: leaflet.name))
            stage.expect(
                content.map(Array.init) == PartedDownload.content(of: leaflet.size),
                "\(leaflet.name) is complete")
        }
        let size = leaflets.reduce(0) { $0 + $1.size }
        stage.result("\(size) bytes in four files, each equal to its digest; \(sent) sent")
    }
}

extension PartedDownload {
    /// The content of the server's brochures.
    fileprivate static func content(of size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    }
}

extension TransferQueue.Item {
    /// Whether it is complete, or has failed.
    fileprivate var hasEnded: Bool {
        switch state {
        case .finished, .failed: true
        case .waiting, .running, .paused: false
        }
    }
}
