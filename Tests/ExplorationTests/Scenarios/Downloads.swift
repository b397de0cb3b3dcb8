import HTTPTypes
import RxNetworking
import RxSimulation
import RxTesting

extension House {
    /// A file that is downloaded in spite of everything, restarts, new versions of the file, a disk that is late or fails,
    /// and other downloads to the same file included.
    static let downloads: Simulation.Scenario = { simulation in
        let version = Kept(1)
        let isDone = Kept(false)
        simulation.server(url) { request in
            if simulation.happens("file changes") { version { $0 += 1 } }
            return part(of: version.now, for: request)
        }

        simulation.process { process in
            let client = Client(configuration: process.configuration(), transport: process.transport)
            let app = Downloader(client: client, process: process, simulation: simulation, isDone: isDone)
            app.download()
            process.every(.milliseconds(700)) { turn in
                app.disturbDisk(turn)
                if turn % 6 == 0 { app.downloadAgain(turn) }
                if simulation.happens("download begins anew") { app.beginAnew() }
            }
        }

        simulation.expectEnds(of: "download")
        simulation.expectEnds(of: "other")
        simulation.sometimes("a download is resumed") { log in
            log.subscriptions("download").flatMap(\.values).contains {
                $0.hasPrefix("finished from ") && $0 != "finished from 0"
            }
        }
        simulation.sometimes("a changed file is downloaded from the beginning") { log in
            log.exchanges("GET /map").contains {
                $0.request.headerFields[.ifRange] != nil && $0.status == .ok
            }
        }
        simulation.sometimes("another download to the file is refused") { log in
            log.subscriptions("other").contains { $0.end == .failed("file") }
        }
        simulation.sometimes("another download to the file finishes") { log in
            log.subscriptions("other").contains { $0.end == .finished }
        }
        simulation.invariant("a finished file is whole, of one response") { log in
            log.notes("file").filter { $0 != "whole" }
        }
        simulation.invariant("the file arrives") { log in
            let last = log.subscriptions("download").last
            return isDone.now || last.map { $0.end == .cancelled && !$0.isCutOff } == true
                ? [] : ["it has not arrived"]
        }
    }

    /// The app: downloads until it has the file, and meanwhile again to the same file by other paths.
    private struct Downloader: Sendable {
        let client: Client
        let process: SimulatedProcess
        let simulation: Simulation
        let isDone: Kept<Bool>
        let running = Kept<(any Cancellable)?>(nil)

        private static let paths = ["/d/./map", "/d//map", "/d/e/../map", "d/map"]
        private static let operations: [(MemoryFileSystem.Operation, String)] = [
            (.write, "/d/map.part"), (.replace, "/d/map.part.json"), (.synchronize, "/d/map.part"),
            (.move, "/d/map.part"), (.lock, "/d/map.part"), (.remove, "/d/map.part.json"),
            (.status, "/d/map.part"),
        ]

        /// Downloads, with a pause after each failure.
        func download() {
            guard !isDone.now else { return }
            let subscription = start("download", to: "/d/map") { isFinished in
                if !isFinished { process.after(.seconds(5)) { download() } }
            }
            running { $0 = subscription }
        }

        /// Cancels the download, and starts another at once.
        func beginAnew() {
            guard let last = running.now, !isDone.now else { return }
            last.cancel()
            download()
        }

        /// A second download to the file, under another name.
        func downloadAgain(_ turn: Int) {
            _ = start("other", to: Self.paths[turn / 6 % Self.paths.count]) { _ in }
        }

        private func start(
            _ name: String, to path: String, onEnd: @escaping @Sendable (_ isFinished: Bool) -> Void
        ) -> any Cancellable {
            process.subscribe(
                name, to: client.download(.get("/map"), to: path),
                describing: { event in
                    switch event {
                    case .progress(let progress): "\(progress.bytes)"
                    case .finished(let file): "finished from \(file.resumedFrom)"
                    }
                },
                onNext: { event in
                    if case .finished(let file) = event { check(file) }
                }, onEnd: onEnd)
        }

        private func check(_ file: DownloadedFile) {
            isDone { $0 = true }
            let bytes = simulation.files[file.path] ?? []
            let isWhole =
                Set(bytes).count == 1 && bytes.count == House.size(of: Int(bytes[0]))
                && file.size == bytes.count
            simulation.note("file", isWhole ? "whole" : "not a version of the file: \(bytes)")
        }

        /// Makes the next operation of a kind late, or makes it fail.
        func disturbDisk(_ turn: Int) {
            let (operation, path) = Self.operations[turn % Self.operations.count]
            if simulation.happens("disk is late") {
                simulation.files.delay(operation, of: path, by: .milliseconds(turn * 311 % 9000))
            }
            if simulation.happens("disk fails") { simulation.files.fail(operation, of: path) }
        }
    }

    /// Each version consists of its number, so that a mixture shows.
    private static func size(of version: Int) -> Int { 200 + 10 * version }

    private static func part(of version: Int, for request: SimulatedRequest) -> ScriptedTransport.Reply {
        let size = size(of: version)
        var headers: HTTPFields = [.eTag: "\"v\(version)\""]
        var (offset, status) = (0, HTTPResponse.Status.ok)
        if let range = request[.range], request[.ifRange] == headers[.eTag],
            let start = Int(range.dropFirst("bytes=".count).dropLast())
        {
            guard start < size else {
                headers[.contentRange] = "bytes */\(size)"
                return .status(.rangeNotSatisfiable, headers: headers)
            }
            (offset, status) = (start, .partialContent)
            headers[.contentRange] = "bytes \(start)-\(size - 1)/\(size)"
        }
        headers[.contentLength] = "\(size - offset)"
        var steps: [ScriptedTransport.Step] = [.head(ResponseHead(status: status, headerFields: headers))]
        while offset < size {
            let count = min(20, size - offset)
            steps += [
                .chunk(Array(repeating: UInt8(truncatingIfNeeded: version), count: count)),
                .wait(.seconds(1)),
            ]
            offset += count
        }
        return .init(steps + [.finish])
    }
}
