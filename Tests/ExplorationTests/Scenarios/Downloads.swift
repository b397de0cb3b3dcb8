import HTTPTypes
import RxNetworking
import RxTesting

extension House {
    /// A file that is downloaded in spite of everything, restarts and new versions of the file included.
    static let downloads: Simulation.Scenario = { simulation in
        let version = Kept(1)
        let isDone = Kept(false)
        simulation.server(url) { request in
            if simulation.happens("file changes") { version { $0 += 1 } }
            return part(of: version.now, for: request)
        }

        simulation.process { process in
            let client = Client(configuration: process.configuration(), transport: process.transport)
            download(by: client, in: process, of: simulation, isDone)
        }

        simulation.expectEnds(of: "download")
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
        simulation.invariant("the file is whole") { log in
            log.notes("file").filter { $0 != "whole" }
        }
        simulation.invariant("the file arrives") { log in
            isDone.now || log.subscriptions("download").contains { $0.end == .cancelled && !$0.isCutOff }
                ? [] : ["it has not arrived"]
        }
    }

    /// Downloads until it has the file, with a pause after each failure.
    private static func download(
        by client: Client, in process: SimulatedProcess, of simulation: Simulation, _ isDone: Kept<Bool>
    ) {
        guard !isDone.now else { return }
        process.subscribe(
            "download", to: client.download(.get("/map"), to: "/d/map"),
            describing: { event in
                switch event {
                case .progress(let progress): "\(progress.bytes)"
                case .finished(let file): "finished from \(file.resumedFrom)"
                }
            },
            onNext: { event in
                if case .finished(let file) = event { check(file, in: process, of: simulation, isDone) }
            },
            onEnd: { isFinished in
                if !isFinished {
                    process.after(.seconds(5)) { download(by: client, in: process, of: simulation, isDone) }
                }
            })
    }

    private static func check(
        _ file: DownloadedFile, in process: SimulatedProcess, of simulation: Simulation, _ isDone: Kept<Bool>
    ) {
        isDone { $0 = true }
        process.subscribe(
            "read", to: process.files.contents(of: file.path, limit: 1 << 20),
            describing: { "\($0?.count ?? 0) bytes" },
            onNext: { bytes in
                let isWhole = bytes.map { Set($0).count == 1 && $0.count == size(of: Int($0[0])) } ?? false
                simulation.note("file", isWhole ? "whole" : "not a version of the file: \(bytes ?? [])")
            })
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
