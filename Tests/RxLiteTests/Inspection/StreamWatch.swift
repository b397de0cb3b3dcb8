import RxLite

/// Watches the process's inspected streams during a test.
final class StreamWatch {
    private let log = StreamLog.shared
    private var names: [Int: String] = [:]
    /// The last batch.
    private(set) var batch: StreamBatch?

    private let watcher: Int

    /// - Parameter textLimit: the time that texts may take between two calls of ``lines()``.
    init(textLimit: Duration = .seconds(60)) {
        log.attach()
        let tracks: [StreamTrack]
        (watcher, tracks) = log.beginWatching(textLimit: textLimit)
        for track in tracks { names[track.id] = Self.name(of: track) }
    }

    deinit {
        log.endWatching(watcher)
        log.detach()
    }

    /// The records since the last call, one line each.
    func lines() -> [String] {
        let batch = log.drain(watcher)
        self.batch = batch
        return batch.records.map { record in
            if case .begun(let track) = record.kind { names[track.id] = Self.name(of: track) }
            let name = names[record.track] ?? "?"
            return switch record.kind {
            case .begun(let track): "\(name) begun\(above(track))"
            case .value(_, let text, _): "\(name) \(text)"
            case .finished: "\(name) |"
            case .failed(let text): "\(name) #\(text)"
            case .cancelled: "\(name) cancelled"
            case .released: "\(name) released"
            case .paused: "\(name) paused"
            case .resumed: "\(name) resumed"
            }
        }
    }

    /// The number of values of a track so far, shown or not.
    func count(_ name: String) -> Int? {
        names.first { $0.value == name }.flatMap { batch?.counts[$0.key] }
    }

    private func above(_ track: StreamTrack) -> String {
        let parent = track.parent == 0 ? "" : " below \(names[track.parent] ?? "?")"
        return parent + (track.marble == 0 ? "" : " by a marble")
            + (track.inner == 0 ? "" : " for \(names[track.inner] ?? "?")")
    }

    private static func name(of track: StreamTrack) -> String {
        track.origin.kind == .inner ? "inner" : "\(track.origin.name)\(track.origin.number)"
    }
}
