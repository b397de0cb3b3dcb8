import Foundation
import RxNetworking

extension Recipe {
    static let cancelHalfway = Recipe(
        "Cancelling half-way",
        "A slow download is cancelled in the middle; the connection closes, and the server notices it."
    ) { stage in
        let shop = Client.shop(stage.baseURL, named: "downloads")
        let before = try await shop.statistics().value()
        // Code
        let size = 8 << 20
        let url = URL(string: "\(stage.baseURL)/download?size=\(size)&rate=\(16 << 20)")!
        let download = CurlTransport.shared.send(Request(url: url))
        let received =
            download
            .compactMap { if case .chunk(let bytes) = $0 { bytes.count } else { nil } }
            .scan(0, +)
            .filter { $0 >= size / 2 }
            .take(1)
        // Shown
        let (values, _) = await stage.play(received) { "\($0) bytes received, that is enough" }
        stage.expect((values.first ?? 0) >= size / 2 && (values.first ?? 0) < size, "it stops half-way")
        var aborted = 0
        // The server notices it at its next write.
        for _ in 0..<100 where aborted == 0 {
            aborted = try await shop.statistics().value().downloadsAborted - before.downloadsAborted
            if aborted == 0 { try await Task.sleep(for: .milliseconds(20)) }
        }
        stage.expect(aborted == 1, "the server counts one aborted download, not \(aborted)")
        stage.result("\(values.first ?? 0) of \(size) bytes; the server counts \(aborted) aborted download")
    }
}
