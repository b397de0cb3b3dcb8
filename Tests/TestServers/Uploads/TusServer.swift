import Synchronization

/// A server of tus 1.0.0 with the extensions creation, creation-with-upload, creation-defer-length, expiration, checksum,
/// termination and concatenation, written from https://tus.io/protocols/resumable-upload.
///
/// `POST /files` creates uploads, `/files/…` are their places.
public final class TusServer: Sendable {
    /// The announcements and the behavior of the server.
    public struct Settings: Sendable {
        /// The extensions that it offers.
        public var extensions: Set<String> = [
            "creation", "creation-with-upload", "creation-defer-length", "expiration", "checksum",
            "termination",
            "concatenation",
        ]
        /// The largest upload.
        public var maxSize: Int?
        /// The largest body that something in between lets pass.
        public var largestBody: Int?
        /// The algorithms of checksums.
        public var algorithms = "sha1,sha256,crc32"
        /// Whether the checksum of a request, an algorithm and a text in Base64, is right.
        public var isChecksum: (@Sendable (String, [UInt8]) -> Bool)?
        /// The faults of PATCH requests and of POST requests with content, in their order.
        public var faults: [UploadFault] = []
        /// Whether OPTIONS is refused.
        public var refusesOptions = false
        /// The value of `Upload-Expires`.
        public var expires: String?
        /// The origin of the places, if they are elsewhere.
        public var origin = ""

        /// Creates settings without faults.
        public init() {}
    }

    /// An upload.
    public struct Upload: Sendable {
        /// The bytes so far.
        public internal(set) var bytes: [UInt8] = []
        /// The length, once it is known.
        public internal(set) var length: Int?
        /// `Upload-Metadata` of its creation.
        public internal(set) var metadata: String?
        /// `Upload-Concat` of its creation.
        public internal(set) var concatenation: String?
        /// Whether it was deleted.
        public internal(set) var isGone = false
        var owner: Int?
    }

    private let resources: TusResources
    private let server: StreamingServer
    /// The port on 127.0.0.1.
    public var port: UInt16 { server.port }

    /// Starts a server.
    public init(_ settings: Settings = Settings()) throws(SystemError) {
        let resources = TusResources(settings)
        self.resources = resources
        server = try StreamingServer { exchange throws(RawServer.End) in try resources.handle(exchange) }
    }

    /// The number of requests that have been held.
    public var holds: Board<Int> { resources.holds }

    /// Closes all connections.
    public func stop() { server.stop() }

    /// `http://127.0.0.1:port`, without a trailing slash.
    public var baseURL: String { "http://127.0.0.1:\(port)" }
    /// The uploads in the order of their creation.
    public var uploads: [Upload] { resources.state.withLock { $0.uploads } }
    /// The requests so far.
    public var log: UploadLog { resources.state.withLock { $0.log } }

    /// Changes the settings.
    public func update(_ change: (inout Settings) -> Void) {
        resources.state.withLock { change(&$0.settings) }
    }

    /// Deletes an upload, as its expiry does.
    public func expire(_ index: Int) { resources.state.withLock { $0.uploads[index].isGone = true } }
}

/// The uploads of a server, and the rules of the protocol for them.
private final class TusResources: Sendable {
    struct State: Sendable {
        var settings: TusServer.Settings
        var uploads: [TusServer.Upload] = []
        var log = UploadLog()
        var owners = 0
    }

    let state: Mutex<State>
    let holds = Board(0)

    init(_ settings: TusServer.Settings) { state = Mutex(State(settings: settings)) }

    private typealias Exchange = StreamingServer.Exchange
    private static let version = ("Tus-Resumable", "1.0.0")

    func handle(_ exchange: StreamingServer.Exchange) throws(RawServer.End) {
        let head = exchange.head
        let entry = UploadLog.Entry(method: head.method, target: head.target, fields: head.plainFields)
        let (number, settings) = state.withLock { state in
            state.log.entries.append(entry)
            return (state.log.entries.count - 1, state.settings)
        }
        if head.method == "OPTIONS" {
            guard !settings.refusesOptions else { return try exchange.respond(405) }
            var fields = [
                Self.version, ("Tus-Version", "1.0.0,0.2.2"),
                ("Tus-Extension", settings.extensions.sorted().joined(separator: ",")),
            ]
            if let size = settings.maxSize { fields.append(("Tus-Max-Size", "\(size)")) }
            if settings.extensions.contains("checksum") {
                fields.append(("Tus-Checksum-Algorithm", settings.algorithms))
            }
            return try exchange.respond(204, fields)
        }
        guard head.field("Tus-Resumable") == "1.0.0" else {
            return try refuse(exchange, 412, [("Tus-Version", "1.0.0")])
        }
        if head.method == "POST", head.path == "/files" { return try create(exchange, number, settings) }
        let index = head.path.hasPrefix("/files/") ? Int(head.path.dropFirst(7)) ?? -1 : -1
        awaitEnd {
            state.withLock { $0.uploads.indices.contains(index) && $0.uploads[index].owner != nil }
        }
        let status = state.withLock { state -> Int? in
            guard state.uploads.indices.contains(index) else { return 404 }
            guard !state.uploads[index].isGone else { return 410 }
            if state.uploads[index].owner != nil {
                state.log.overlaps += 1
                state.uploads[index].owner = nil
            }
            return nil
        }
        if let status { return try refuse(exchange, status) }
        switch head.method {
        case "HEAD": try exchange.respond(200, state(of: index) + [("Cache-Control", "no-store")])
        case "PATCH": try append(exchange, index, number, settings)
        case "DELETE" where settings.extensions.contains("termination"):
            state.withLock { $0.uploads[index].isGone = true }
            try exchange.respond(204, [Self.version])
        default: try refuse(exchange, 405)
        }
    }

    private func refuse(
        _ exchange: Exchange, _ status: Int, _ fields: [(String, String)] = []
    ) throws(RawServer.End) {
        try exchange.readBody { _ in }
        try exchange.respond(status, fields + [Self.version])
    }

    private func state(of index: Int) -> [(String, String)] {
        let (upload, settings) = state.withLock { ($0.uploads[index], $0.settings) }
        var fields = [Self.version, ("Upload-Offset", "\(upload.bytes.count)")]
        if let length = upload.length {
            fields.append(("Upload-Length", "\(length)"))
        } else {
            fields.append(("Upload-Defer-Length", "1"))
        }
        if let expires = settings.expires { fields.append(("Upload-Expires", expires)) }
        return fields
    }

    private func nextFault() -> UploadFault {
        state.withLock { $0.settings.faults.isEmpty ? .none : $0.settings.faults.removeFirst() }
    }

    private func create(
        _ exchange: Exchange, _ number: Int, _ settings: TusServer.Settings
    ) throws(RawServer.End) {
        let head = exchange.head
        let length = head.field("Upload-Length").flatMap { Int($0) }
        let isFinal = head.field("Upload-Concat")?.hasPrefix("final;") == true
        guard length != nil || head.field("Upload-Defer-Length") == "1" || isFinal else {
            return try refuse(exchange, 400)
        }
        if let most = settings.maxSize, let length, length > most { return try refuse(exchange, 413) }
        let hasContent = head.field("Content-Type") == "application/offset+octet-stream"
        let fault = hasContent ? nextFault() : .none
        if case .status(let status, let fields) = fault {
            return try refuse(exchange, status, fields.map { ($0.key, $0.value) })
        }
        let index = state.withLock { state in
            var upload = TusServer.Upload(
                length: length, metadata: head.field("Upload-Metadata"),
                concatenation: head.field("Upload-Concat"))
            if isFinal {
                for place in head.field("Upload-Concat")?.dropFirst(6).split(separator: " ") ?? [] {
                    let part = place.split(separator: "/").last.flatMap { Int($0) } ?? -1
                    if state.uploads.indices.contains(part) { upload.bytes += state.uploads[part].bytes }
                }
                upload.length = upload.bytes.count
            }
            state.uploads.append(upload)
            return state.uploads.count - 1
        }
        let location = ("Location", "\(settings.origin)/files/\(index)")
        var offset: [(String, String)] = []
        if hasContent {
            guard try receive(exchange, index, number, fault, settings) else { return }
            offset = state(of: index)
        } else {
            try exchange.readBody { _ in }
            offset = [Self.version]
        }
        if case .unanswered = fault { throw exchange.cut() }
        try exchange.respond(201, [location] + offset)
    }

    private func append(
        _ exchange: Exchange, _ index: Int, _ number: Int, _ settings: TusServer.Settings
    ) throws(RawServer.End) {
        let head = exchange.head
        let fault = nextFault()
        if case .status(let status, let fields) = fault {
            return try refuse(exchange, status, fields.map { ($0.key, $0.value) })
        }
        guard head.field("Content-Type") == "application/offset+octet-stream" else {
            return try refuse(exchange, 415)
        }
        let count = state.withLock { $0.uploads[index].bytes.count }
        guard head.field("Upload-Offset") == "\(count)" else {
            return try refuse(exchange, 409, [("Upload-Offset", "\(count)")])
        }
        if let most = settings.largestBody, Int(head.field("Content-Length") ?? "0") ?? 0 > most {
            return try refuse(exchange, 413)
        }
        if let length = head.field("Upload-Length").flatMap({ Int($0) }) {
            state.withLock { $0.uploads[index].length = length }
        }
        guard try receive(exchange, index, number, fault, settings) else { return }
        if case .unanswered = fault { throw exchange.cut() }
        try exchange.respond(204, state(of: index))
    }

    /// Appends the content; false if it was refused.
    private func receive(
        _ exchange: Exchange, _ index: Int, _ number: Int, _ fault: UploadFault,
        _ settings: TusServer.Settings
    ) throws(RawServer.End) -> Bool {
        let owner = state.withLock { state in
            state.owners += 1
            state.uploads[index].owner = state.owners
            return state.owners
        }
        defer {
            state.withLock { state in
                if state.uploads[index].owner == owner { state.uploads[index].owner = nil }
            }
        }
        var most = Int.max
        var isHeld = false
        switch fault {
        case .cut(let count): most = count
        case .hold(let count): (most, isHeld) = (count, true)
        default: break
        }
        let checksum = exchange.head.field("Upload-Checksum")
        var (count, held): (Int, [UInt8]) = (0, [])
        try exchange.readBody { piece throws(RawServer.End) in
            var part = Array(piece.prefix(most - count))
            if case .corrupted = fault, count == 0, !part.isEmpty { part[0] ^= 1 }
            count += part.count
            let isOwner = state.withLock { state in
                state.log.entries[number].received += part.count
                guard state.uploads[index].owner == owner else { return false }
                if checksum == nil { state.uploads[index].bytes += part }
                return true
            }
            guard isOwner else { throw .script }
            if checksum != nil { held += part }
            if count >= most {
                if isHeld { holds.update { $0 += 1 } }
                throw isHeld ? exchange.hold() : exchange.cut()
            }
        }
        guard let checksum else { return true }
        guard settings.isChecksum?(checksum, held) != false else {
            try exchange.respond(460, [Self.version])
            return false
        }
        state.withLock { $0.uploads[index].bytes += held }
        return true
    }
}
