import Foundation
import RxNetworking

extension Recipe {
    static let downloadBrochure = Recipe(
        "A resumed download",
        "The connection breaks in the middle, and later the app is closed; bytes received are not requested again."
    ) { stage in
        let folder = try Folder()
        let size = 6 << 20
        let run = "\(ContinuousClock.now)"
        // Code
        let path = folder.path(of: "brochure.pdf")
        let brochure = stage.app.client.catalogue.brochure(
            ["size": size, "rate": 8 << 20, "breakAfter": 1 << 20, "run": run], to: path)
        let closedHalfway = brochure.take { event in
            if case .progress(let progress) = event { progress.bytes < 3 << 20 } else { true }
        }
        // Shown
        let before = try await stage.app.client.statistics().value()
        let reached = try await stage.watch(closedHalfway)
        stage.expect(
            reached.file == nil && reached.bytes > 1 << 20, "the download has continued after the break")
        stage.expect(!FileManager.default.fileExists(atPath: path), "no incomplete file is at the path")
        stage.note("the app is closed, and started again")
        let result = try await stage.watch(brochure)
        let after = try await stage.app.client.statistics().value()
        let sent = after.downloadedBytes - before.downloadedBytes
        let content = FileManager.default.contents(atPath: path)
        let isWhole = content?.enumerated().allSatisfy { index, byte in
            byte == UInt8(truncatingIfNeeded: index &* 31 &+ index >> 8)
        }
        stage.expect(content?.count == size && isWhole == true, "the file is complete")
        stage.expect(result.file.map { $0.resumedFrom > 0 } == true, "it resumes where it stopped")
        stage.result(
            "\(size) bytes in three requests, the last from byte \(result.file?.resumedFrom ?? 0); \(sent) sent"
        )
    }
}

extension Stage {
    /// Shows a download's progress; returns the bytes received and the file.
    fileprivate func watch(
        _ download: Observable<DownloadEvent, NetworkError>
    ) async throws -> (bytes: Int64, file: DownloadedFile?) {
        var bar = ProgressBar(label: "brochure.pdf")
        var file: DownloadedFile?
        for try await event in download.values(buffering: .unbounded) {
            switch event {
            case .progress(let progress): bar.progress = progress
            case .finished(let whole): file = whole
            }
            panel.show([bar.row])
        }
        panel.close()
        return (bar.progress.bytes, file)
    }
}
