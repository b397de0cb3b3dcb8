import FoundationEssentials
import HTTPTypes
import RxNetworking
import RxSimulation
import RxTesting
import RxTransfers

/// The uploads of a simulated server by three protocols, and the versions of a file to download.
private struct Depot {
    /// The bytes of each upload by tus and by the draft, until it is complete.
    var growing: [String: (bytes: [UInt8], length: Int?)] = [:]
    /// The parts of each multipart upload.
    var parts: [String: [Int: [UInt8]]] = [:]
    /// The complete contents, by protocol.
    var complete: [String: [UInt8]] = [:]
    var count = 0
    /// The version of the file to download.
    var version = 1

    mutating func next(_ kind: String) -> String {
        count += 1
        return "\(kind)-\(count)"
    }
}

extension House {
    /// Uploads by tus, by the draft of the IETF and in parts of S3, and a download in parts, in spite of everything: restarts,
    /// clocks that jump, requests of which the server takes a half, disks that fail, and files that are replaced.
    static let transfers: Simulation.Scenario = { simulation in
        let depot = Kept(Depot())
        let film = Kept(1)
        let done = Kept<Set<String>>([])
        simulation.files["/d/film"] = content(of: 1)
        simulation.server(url) { request in
            if request.path == "/map" {
                if simulation.happens("map changes") { depot { $0.version += 1 } }
                return mapPart(of: depot.now.version, for: request)
            }
            let takesHalf = !request.body.isEmpty && simulation.happens("half is taken")
            return depot { $0.answer(request, takesHalf: takesHalf) }
        }

        simulation.process { process in
            let client = Client(configuration: process.configuration(), transport: process.transport)
            let app = Mover(
                client: client, process: process, simulation: simulation, depot: depot, film: film, done: done
            )
            for name in Mover.kinds { app.move(name) }
            process.every(.milliseconds(900)) { turn in
                app.disturbDisk(turn)
                if simulation.happens("film is replaced") { app.replaceFilm() }
                if turn % 7 == 0 { app.moveAgain(turn) }
            }
        }

        for name in Mover.kinds { simulation.expectEnds(of: name) }
        simulation.sometimes("an upload goes on in another run") { log in
            Mover.kinds.dropLast().contains { name in
                log.subscriptions(name).flatMap(\.values).contains {
                    $0.hasPrefix("started ") && $0 != "started 0"
                }
            }
        }
        simulation.sometimes("a download in parts goes on in another run") { log in
            log.subscriptions("map").flatMap(\.values).contains {
                $0.hasPrefix("started ") && $0 != "started 0"
            }
        }
        simulation.sometimes("a replaced file is refused") { log in
            Mover.kinds.contains { name in
                log.subscriptions(name).contains { $0.end == .failed("contentChanged") }
            }
        }
        simulation.sometimes("a second upload with the record is refused") { log in
            log.subscriptions("again").contains { $0.end == .failed("locked") }
        }
        simulation.invariant("what has arrived is whole, of one version") { log in
            log.notes("film").filter { $0 != "whole" } + log.notes("map").filter { $0 != "whole" }
        }
        simulation.invariant("no question for the offset while content is sent") { log in
            Mover.overlaps(in: log)
        }
        simulation.invariant("everything arrives") { log in
            Mover.kinds.filter { name in
                let last = log.subscriptions(name).last
                return !done.now.contains(name)
                    && !(last.map { $0.end == .cancelled && !$0.isCutOff } == true)
            }
            .map { "\($0) has not arrived" }
        }
    }

    /// Each version consists of its number, so that a mixture shows, and has its own size.
    fileprivate static func content(of version: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(truncatingIfNeeded: version), count: 300 + version)
    }

    fileprivate static func isWhole(_ bytes: [UInt8]) -> Bool {
        bytes.first.map { bytes == content(of: Int($0)) } ?? false
    }

    private static func mapPart(of version: Int, for request: SimulatedRequest) -> ScriptedTransport.Reply {
        let all = content(of: version)
        var headers: HTTPFields = [.eTag: "\"v\(version)\"", .acceptRanges: "bytes"]
        var (range, status) = (0...(all.count - 1), HTTPResponse.Status.ok)
        let ends = request[.range]?.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
        if let first = ends?.first, request[.ifRange] == headers[.eTag] {
            let last = min(ends?.dropFirst().first ?? all.count - 1, all.count - 1)
            guard first <= last else {
                headers[.contentRange] = "bytes */\(all.count)"
                return .status(.rangeNotSatisfiable, headers: headers)
            }
            (range, status) = (first...last, .partialContent)
            headers[.contentRange] = "bytes \(first)-\(last)/\(all.count)"
        }
        headers[.contentLength] = "\(range.count)"
        var steps: [ScriptedTransport.Step] = [.head(ResponseHead(status: status, headerFields: headers))]
        var rest = all[range]
        while !rest.isEmpty {
            steps += [.chunk(Array(rest.prefix(30))), .wait(.milliseconds(700))]
            rest = rest.dropFirst(30)
        }
        return .init(steps + [.finish])
    }
}

/// The app: moves until everything is there.
private struct Mover: Sendable {
    static let kinds = ["tus", "draft", "s3", "map"]

    let client: Client
    let process: SimulatedProcess
    let simulation: Simulation
    let depot: Kept<Depot>
    let film: Kept<Int>
    let done: Kept<Set<String>>
    /// The uploads that have failed because the film was replaced.
    private let refused = Kept<Set<String>>([])

    init(
        client: Client, process: SimulatedProcess, simulation: Simulation, depot: Kept<Depot>,
        film: Kept<Int>,
        done: Kept<Set<String>>
    ) {
        self.client = client
        self.process = process
        self.simulation = simulation
        self.depot = depot
        self.film = film
        self.done = done
    }

    private var method: (String) -> UploadMethod {
        { name in
            var options = UploadMethod.Options()
            options.partSize = 100
            options.backoff = .constant(.seconds(1))
            // By the digest, or by time and number.
            if name == "tus" { options.digest = .none }
            return switch name {
            case "tus": .tus(creationSize: 0, options: options)
            case "draft": .resumable(isKnown: true, options: options)
            default: .multipart(concurrency: 2, options: options)
            }
        }
    }

    /// Moves, with a pause after each failure.
    func move(_ name: String) {
        guard !done.now.contains(name) else { return }
        name == "map" ? download() : upload(name)
    }

    private func upload(_ name: String) {
        process.subscribe(
            name,
            to: client.upload(.file("/d/film"), to: endpoint(name), by: method(name)).mapError { error in
                if error.code == .contentChanged { refused { _ = $0.insert(name) } }
                return error
            },
            describing: Self.describe,
            onNext: { event in
                guard case .finished = event else { return }
                let bytes = depot.now.complete[name] ?? []
                simulation.note("film", House.isWhole(bytes) ? "whole" : "\(name): \(bytes)")
                done { _ = $0.insert(name) }
            },
            onEnd: { isFinished in
                guard !isFinished else { return }
                process.after(.seconds(5)) {
                    // A replaced file is another upload: as an app, it gives up the earlier one.
                    if refused({ $0.remove(name) }) != nil {
                        for path in simulation.files.paths
                        where path.hasSuffix(".json") && path.contains("film") {
                            simulation.files[path] = nil
                        }
                    }
                    move(name)
                }
            })
    }

    private func download() {
        process.subscribe(
            "map", to: client.download(.get("/map"), to: "/d/map", parts: .count(3)),
            describing: { event in
                switch event {
                case .started(let offset, _): "started \(offset)"
                case .progress(let rate): "\(rate.bytes)"
                case .paused(let error, for: _): "paused \(error.code)"
                case .startedOver: "over"
                case .finished(let file): "finished \(file.size)"
                }
            },
            onNext: { event in
                guard case .finished = event else { return }
                let bytes = simulation.files["/d/map"] ?? []
                simulation.note("map", House.isWhole(bytes) ? "whole" : "map: \(bytes)")
                done { _ = $0.insert("map") }
            },
            onEnd: { isFinished in
                if !isFinished { process.after(.seconds(5)) { move("map") } }
            })
    }

    /// The upload once more, while the first may run.
    func moveAgain(_ turn: Int) {
        let name = Self.kinds[turn / 7 % 3]
        guard !done.now.contains(name) else { return }
        process.subscribe(
            "again", to: client.upload(.file("/d/film"), to: endpoint(name), by: method(name)),
            describing: Self.describe,
            onNext: { event in
                guard case .finished = event else { return }
                let bytes = depot.now.complete[name] ?? []
                simulation.note("film", House.isWhole(bytes) ? "whole" : "\(name): \(bytes)")
                done { _ = $0.insert(name) }
            })
    }

    private func endpoint(_ name: String) -> InlineEndpoint {
        name == "s3" ? .put("/s3/film") : .post("/\(name)")
    }

    private static let describe: @Sendable (UploadEvent<Response>) -> String = { event in
        switch event {
        case .started(let offset): "started \(offset)"
        case .progress(let rate): "\(rate.bytes)"
        case .paused(let error, for: _): "paused \(error.code)"
        case .resumed(let offset): "resumed \(offset)"
        case .verified: "verified"
        case .finished: "finished"
        }
    }

    /// Another film comes in the place of the first.
    func replaceFilm() {
        let version = film { film in
            film += 1
            return film
        }
        simulation.files["/d/film"] = House.content(of: version)
    }

    /// Makes the next operation of a kind late, or makes it fail.
    func disturbDisk(_ turn: Int) {
        let operations: [(MemoryFileSystem.Operation, String)] = [
            (.write, "/d/map.part"), (.replace, "/d/map.part.json"), (.read, "/d/film"),
            (.synchronize, "/d/map.part"), (.move, "/d/map.part"), (.status, "/d/film"),
            (.remove, "/d/map.part.json"), (.status, "/d/map.part"), (.read, "/d/map.part"),
        ]
        let (operation, path) = operations[turn % operations.count]
        if simulation.happens("disk is late") {
            simulation.files.delay(operation, of: path, by: .milliseconds(turn * 311 % 9000))
        }
        if simulation.happens("disk fails") { simulation.files.fail(operation, of: path) }
    }

    /// The requests to one upload that were sent before an earlier one of the same process had ended.
    static func overlaps(in log: SimulationLog) -> [String] {
        var found: [String] = []
        var last: [String: SimulatedExchange] = [:]
        for exchange in log.exchanges {
            let path = exchange.request.url.path(percentEncoded: false)
            guard path.hasPrefix("/tus/") || path.hasPrefix("/draft/") else { continue }
            if let before = last[path], before.endedAt.map({ $0 > exchange.sentAt }) ?? false {
                found.append("\(exchange.place) was sent during \(before.place)")
            }
            last[path] = exchange
        }
        return found
    }
}

extension Depot {
    /// The response to a request of an upload.
    ///
    /// - Parameter takesHalf: whether the connection breaks after a half of the content.
    mutating func answer(_ request: SimulatedRequest, takesHalf: Bool) -> ScriptedTransport.Reply {
        let body = takesHalf ? Array(request.body.prefix(request.body.count / 2)) : request.body
        if request.path.hasPrefix("/s3") {
            // S3 takes a part as a whole, or not at all.
            return takesHalf ? .failure(.connectionLost, "the connection broke") : object(request)
        }
        let reply = request.path.hasPrefix("/tus") ? tus(request, body) : draft(request, body, takesHalf)
        return takesHalf ? .failure(.connectionLost, "the connection broke") : reply
    }

    private static func reply(_ status: Int, _ fields: [String: String] = [:]) -> ScriptedTransport.Reply {
        var headers: HTTPFields = [:]
        for (name, value) in fields { if let name = HTTPField.Name(name) { headers[name] = value } }
        return .status(.init(code: status), headers: headers)
    }

    private static func number(_ request: SimulatedRequest, _ name: String) -> Int? {
        HTTPField.Name(name).flatMap { request[$0] }.flatMap { Int($0) }
    }

    // MARK: - tus

    private mutating func tus(_ request: SimulatedRequest, _ body: [UInt8]) -> ScriptedTransport.Reply {
        let version = ["Tus-Resumable": "1.0.0"]
        if request.method == .options {
            return Self.reply(
                204,
                version.merging(["Tus-Version": "1.0.0", "Tus-Extension": "creation,termination"]) { $1 })
        }
        if request.method == .post {
            let name = next("tus")
            growing["/tus/" + name] = ([], Self.number(request, "Upload-Length"))
            return Self.reply(201, version.merging(["Location": "/tus/" + name]) { $1 })
        }
        guard var upload = growing[request.path] else { return Self.reply(404, version) }
        switch request.method {
        case .patch:
            guard Self.number(request, "Upload-Offset") == upload.bytes.count else {
                return Self.reply(409, version)
            }
            upload.bytes += body
            growing[request.path] = upload
            if upload.bytes.count == upload.length { complete["tus"] = upload.bytes }
            return Self.reply(204, version.merging(["Upload-Offset": "\(upload.bytes.count)"]) { $1 })
        case .delete:
            growing[request.path] = nil
            return Self.reply(204, version)
        default: return Self.reply(200, version.merging(["Upload-Offset": "\(upload.bytes.count)"]) { $1 })
        }
    }

    // MARK: - The draft

    private mutating func draft(
        _ request: SimulatedRequest, _ body: [UInt8], _ isPartial: Bool
    ) -> ScriptedTransport.Reply {
        let isLast = HTTPField.Name("Upload-Complete").flatMap { request[$0] } == "?1" && !isPartial
        if request.method == .post {
            let place = "/draft/" + next("draft")
            growing[place] = (body, Self.number(request, "Upload-Length"))
            return finish(place, isLast, status: 201, ["Location": place])
        }
        guard var upload = growing[request.path] else { return Self.reply(404) }
        let isComplete = upload.length == -1
        switch request.method {
        case .patch:
            guard !isComplete, Self.number(request, "Upload-Offset") == upload.bytes.count else {
                return Self.reply(409, ["Upload-Offset": "\(upload.bytes.count)"])
            }
            upload.bytes += body
            growing[request.path] = upload
            return finish(request.path, isLast, status: 200, [:])
        case .delete:
            growing[request.path] = nil
            return Self.reply(204)
        default:
            return Self.reply(
                204, ["Upload-Offset": "\(upload.bytes.count)", "Upload-Complete": isComplete ? "?1" : "?0"])
        }
    }

    private mutating func finish(
        _ place: String, _ isLast: Bool, status: Int, _ fields: [String: String]
    ) -> ScriptedTransport.Reply {
        let bytes = growing[place]?.bytes ?? []
        if isLast {
            growing[place] = (bytes, -1)
            complete["draft"] = bytes
        }
        return Self.reply(
            status,
            fields.merging(["Upload-Offset": "\(bytes.count)", "Upload-Complete": isLast ? "?1" : "?0"]) {
                $1
            })
    }

    // MARK: - S3

    private mutating func object(_ request: SimulatedRequest) -> ScriptedTransport.Reply {
        if request.query.keys.contains("uploads") {
            let name = next("s3")
            parts[name] = [:]
            return .bytes(Array("<R><UploadId>\(name)</UploadId></R>".utf8))
        }
        guard let name = request.query["uploadId"], let known = parts[name] else { return .status(.notFound) }
        switch request.method {
        case .put:
            guard let number = request.query["partNumber"].flatMap({ Int($0) }) else {
                return .status(.badRequest)
            }
            parts[name]?[number] = request.body
            return Self.reply(200, ["ETag": "\"\(number)\""])
        case .get:
            let list = known.sorted { $0.key < $1.key }.map { number, bytes in
                "<Part><PartNumber>\(number)</PartNumber><ETag>\"\(number)\"</ETag><Size>\(bytes.count)</Size></Part>"
            }
            return .bytes(Array("<R><IsTruncated>false</IsTruncated>\(list.joined())</R>".utf8))
        case .post:
            complete["s3"] = known.sorted { $0.key < $1.key }.flatMap(\.value)
            parts[name] = nil
            return .bytes(Array("<R><ETag>\"all\"</ETag></R>".utf8))
        default:
            parts[name] = nil
            return .status(.noContent)
        }
    }
}
