import Synchronization

/// A server of resumable uploads by draft-ietf-httpbis-resumable-upload, interop version 8, written from its text.
///
/// Every path but `/uploads/…` accepts uploads by any method with content. A complete upload is answered with the number of
/// its bytes as text.
public final class DraftUploadServer: Sendable {
    /// The announcements and the behavior of the server.
    public struct Settings: Sendable {
        /// The members of `Upload-Limit`.
        public var limits: [String: Int64] = [:]
        /// Sends a 104 with the offset each time so many bytes have been processed.
        public var progressEvery: Int?
        /// The value of `Repr-Digest` of complete content, if the client asks for it.
        public var digest: (@Sendable ([UInt8]) -> String)?
        /// Whether the `Content-Digest` of a request is right.
        public var isDigest: (@Sendable (String, [UInt8]) -> Bool)?
        /// The largest body that something in between lets pass, without saying so.
        public var largestBody: Int?
        /// The faults of requests with content, in their order.
        public var faults: [UploadFault] = []
        /// Whether the server knows nothing of resumable uploads.
        public var isConventional = false
        /// Members that `Upload-Limit` has in addition.
        public var otherLimits = ""

        /// Creates settings without faults.
        public init() {}
    }

    /// An upload resource.
    public struct Upload: Sendable {
        /// The bytes that have been processed.
        public internal(set) var bytes: [UInt8] = []
        /// The length, once it is known.
        public internal(set) var length: Int64?
        /// Whether the upload is complete.
        public internal(set) var isComplete = false
        /// Whether the resource was deleted or became invalid.
        public internal(set) var isGone = false
        /// The fields of the request that created it.
        public internal(set) var fields: [String: String] = [:]
        /// The request that is being processed.
        var owner: Int?
    }

    private let resources: DraftUploadResources
    private let server: StreamingServer
    /// The port on 127.0.0.1.
    public var port: UInt16 { server.port }

    /// Starts a server.
    public init(_ settings: Settings = Settings()) throws(SystemError) {
        let resources = DraftUploadResources(settings)
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
}

/// The upload resources of a server, and the rules of the text for them.
private final class DraftUploadResources: Sendable {
    typealias Settings = DraftUploadServer.Settings
    typealias Upload = DraftUploadServer.Upload

    struct State: Sendable {
        var settings: Settings
        var uploads: [Upload] = []
        var log = UploadLog()
        var owners = 0
    }

    let state: Mutex<State>
    let holds = Board(0)

    init(_ settings: Settings) { state = Mutex(State(settings: settings)) }

    // MARK: - Requests

    private typealias Exchange = StreamingServer.Exchange
    private static let version = ("Upload-Draft-Interop-Version", "8")

    func handle(_ exchange: StreamingServer.Exchange) throws(RawServer.End) {
        let head = exchange.head
        let entry = UploadLog.Entry(method: head.method, target: head.target, fields: head.plainFields)
        let number = state.withLock { state in
            state.log.entries.append(entry)
            return state.log.entries.count - 1
        }
        if head.method == "OPTIONS" { return try exchange.respond(204, limits(isRequired: true)) }
        guard head.path.hasPrefix("/uploads/") else { return try create(exchange, number) }
        let index = Int(head.path.dropFirst(9)) ?? -1
        awaitEnd {
            state.withLock { $0.uploads.indices.contains(index) && $0.uploads[index].owner != nil }
        }
        let found = state.withLock { state in
            guard state.uploads.indices.contains(index), !state.uploads[index].isGone else { return false }
            if state.uploads[index].owner != nil {
                state.log.overlaps += 1
                // The request before is given up ("Concurrency").
                state.uploads[index].owner = nil
            }
            return true
        }
        guard found else { return try refuse(exchange, 404) }
        switch head.method {
        case "HEAD", "GET": try retrieve(exchange, index)
        case "PATCH": try append(exchange, index, number)
        case "DELETE":
            state.withLock { $0.uploads[index].isGone = true }
            try exchange.respond(204)
        default: try refuse(exchange, 405)
        }
    }

    private func limits(isRequired: Bool = false) -> [(String, String)] {
        let (limits, other) = state.withLock { ($0.settings.limits, $0.settings.otherLimits) }
        var members = limits.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        if !other.isEmpty { members.append(other) }
        if members.isEmpty, isRequired { members = ["min-size=0"] }
        return members.isEmpty ? [] : [("Upload-Limit", members.joined(separator: ", "))]
    }

    /// Reads the whole request and refuses it.
    private func refuse(
        _ exchange: Exchange, _ status: Int, _ fields: [(String, String)] = [], problem: String? = nil
    ) throws(RawServer.End) {
        try exchange.readBody { _ in }
        guard let problem else { return try exchange.respond(status, fields) }
        try exchange.respond(
            status, fields + [("Content-Type", "application/problem+json")], Array(problem.utf8))
    }

    private static func problem(_ type: String, _ members: String = "") -> String {
        #"{"type":"https://iana.org/assignments/http-problem-types#\#(type)"\#(members)}"#
    }

    private func nextFault() -> UploadFault {
        state.withLock { $0.settings.faults.isEmpty ? .none : $0.settings.faults.removeFirst() }
    }

    private static func boolean(_ text: String?) -> Bool? {
        switch text {
        case "?1": true
        case "?0": false
        default: nil
        }
    }

    private static func integer(_ text: String?) -> Int64? {
        guard let text, !text.isEmpty, text.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return Int64(text)
    }

    /// The length that a request tells, at an offset; fails for two that differ.
    private func length(_ head: RawServer.Request, at offset: Int64) -> Result<Int64?, Inconsistent> {
        let told = Self.integer(head.field("Upload-Length"))
        var computed: Int64?
        if Self.boolean(head.field("Upload-Complete")) == true {
            computed = Self.integer(head.field("Content-Length")).map { $0 + offset }
        }
        if let told, let computed, told != computed { return .failure(Inconsistent()) }
        return .success(told ?? computed)
    }

    private struct Inconsistent: Error {}

    // MARK: - Creation

    private func create(_ exchange: Exchange, _ number: Int) throws(RawServer.End) {
        let head = exchange.head
        let settings = state.withLock { $0.settings }
        let fault = nextFault()
        if case .status(let status, let fields) = fault {
            return try refuse(exchange, status, fields.map { ($0.key, $0.value) })
        }
        let isOffered =
            !settings.isConventional && head.field("Upload-Draft-Interop-Version") == "8"
        guard isOffered, let isLast = Self.boolean(head.field("Upload-Complete")) else {
            return try conventional(exchange, number, fault)
        }
        guard case .success(let length) = length(head, at: 0) else {
            return try refuse(
                exchange, 400, [("Upload-Complete", "?0")],
                problem: Self.problem("inconsistent-upload-length"))
        }
        let count = Self.integer(head.field("Content-Length")) ?? 0
        if let most = settings.limits["max-size"], (length ?? count) > most {
            return try refuse(exchange, 413, limits() + [("Upload-Complete", "?0")])
        }
        if isTooLarge(count, settings) { return try refuse(exchange, 413, limits()) }
        let index = state.withLock { state in
            state.uploads.append(Upload(length: length, fields: head.plainFields))
            return state.uploads.count - 1
        }
        var location = ("Location", "/uploads/\(index)")
        switch fault {
        case .silent: break
        case .interop(let version):
            try exchange.interim(104, [(Self.version.0, version), ("Location", "/elsewhere")])
        default: try exchange.interim(104, [Self.version, location] + limits())
        }
        try receive(exchange, index, number, fault)
        if case .wandering = fault { location.1 = "/uploads/other" }
        if isLast { return try complete(exchange, index, location, fault) }
        if case .unanswered = fault { throw exchange.cut() }
        try exchange.respond(201, [location, ("Upload-Complete", "?0")] + limits())
    }

    private func isTooLarge(_ count: Int64, _ settings: Settings) -> Bool {
        if let most = settings.limits["max-append-size"], count > most { return true }
        return settings.largestBody.map { count > Int64($0) } ?? false
    }

    private func conventional(
        _ exchange: Exchange, _ number: Int, _ fault: UploadFault
    ) throws(RawServer.End) {
        let index = state.withLock { state in
            state.uploads.append(Upload(fields: exchange.head.plainFields))
            return state.uploads.count - 1
        }
        try receive(exchange, index, number, fault)
        state.withLock { $0.uploads[index].isComplete = true }
        if case .unanswered = fault { throw exchange.cut() }
        try exchange.respond(200, [], Array("\(state.withLock { $0.uploads[index].bytes.count })".utf8))
    }

    // MARK: - Content

    /// Appends the content while it arrives, unless a digest must be compared first.
    private func receive(
        _ exchange: Exchange, _ index: Int, _ number: Int, _ fault: UploadFault
    ) throws(RawServer.End) {
        let (owner, settings) = state.withLock { state in
            state.owners += 1
            state.uploads[index].owner = state.owners
            return (state.owners, state.settings)
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
        var (count, held): (Int, [UInt8]) = (0, [])
        let digest = exchange.head.field("Content-Digest")
        let isCreation = exchange.head.method != "PATCH"
        var reported = 0
        let announces: Bool
        switch fault {
        case .silent, .interop: announces = false
        default: announces = exchange.head.field("Upload-Draft-Interop-Version") == "8"
        }
        try exchange.readBody { piece throws(RawServer.End) in
            let part = piece.prefix(most - count)
            count += part.count
            state.withLock { $0.log.entries[number].received += part.count }
            if digest == nil { try add(part, to: index, by: owner) } else { held += part }
            if count >= most {
                if isHeld { holds.update { $0 += 1 } }
                // A client that learns of the reset while it writes does not read where the upload is.
                throw isHeld ? exchange.hold() : exchange.cut(isReset: !isCreation)
            }
            if announces, let step = settings.progressEvery, count - reported >= step, digest == nil {
                reported = count
                let offset = state.withLock { $0.uploads[index].bytes.count }
                try exchange.interim(104, [Self.version, ("Upload-Offset", "\(offset)")])
            }
        }
        guard let digest else { return }
        guard settings.isDigest?(digest, held) != false else {
            try exchange.respond(400, [("Upload-Complete", "?0")], Array("wrong digest".utf8))
            throw exchange.cut(isReset: false)
        }
        try add(held[...], to: index, by: owner)
    }

    private func add(_ part: ArraySlice<UInt8>, to index: Int, by owner: Int) throws(RawServer.End) {
        let isAdded = state.withLock { state in
            guard state.uploads[index].owner == owner, !state.uploads[index].isGone else { return false }
            state.uploads[index].bytes += part
            let size = Int64(state.uploads[index].bytes.count)
            guard size <= state.uploads[index].length ?? .max else {
                state.uploads[index].isGone = true
                return false
            }
            return true
        }
        if !isAdded { throw .script }
    }

    private func complete(
        _ exchange: Exchange, _ index: Int, _ location: (String, String)?, _ fault: UploadFault
    ) throws(RawServer.End) {
        let (bytes, settings, wanted) = state.withLock { state in
            if case .corrupted = fault, !state.uploads[index].bytes.isEmpty {
                state.uploads[index].bytes[0] ^= 1
            }
            state.uploads[index].isComplete = true
            return (
                state.uploads[index].bytes, state.settings,
                state.uploads[index].fields["want-repr-digest"] != nil
            )
        }
        if case .unanswered = fault { throw exchange.cut() }
        try exchange.respond(200, final(bytes, settings, wanted, location), Array("\(bytes.count)".utf8))
    }

    private func final(
        _ bytes: [UInt8], _ settings: Settings, _ wantsDigest: Bool, _ location: (String, String)?
    ) -> [(String, String)] {
        var fields = [("Upload-Complete", "?1"), ("Content-Type", "text/plain")]
        if let location { fields.append(location) }
        if wantsDigest, let digest = settings.digest { fields.append(("Repr-Digest", digest(bytes))) }
        return fields
    }

    // MARK: - The upload resource

    private func retrieve(_ exchange: Exchange, _ index: Int) throws(RawServer.End) {
        let upload = state.withLock { $0.uploads[index] }
        var fields = [
            ("Upload-Offset", "\(upload.bytes.count)"), ("Upload-Complete", upload.isComplete ? "?1" : "?0"),
            ("Cache-Control", "no-store"),
        ]
        if let length = upload.length { fields.append(("Upload-Length", "\(length)")) }
        try exchange.respond(204, fields + limits(isRequired: true))
    }

    private func append(_ exchange: Exchange, _ index: Int, _ number: Int) throws(RawServer.End) {
        let head = exchange.head
        let fault = nextFault()
        if case .status(let status, let fields) = fault {
            return try refuse(exchange, status, fields.map { ($0.key, $0.value) })
        }
        guard head.field("Content-Type") == "application/partial-upload" else {
            return try refuse(exchange, 415)
        }
        guard let offset = Self.integer(head.field("Upload-Offset")),
            let isLast = Self.boolean(head.field("Upload-Complete"))
        else { return try refuse(exchange, 400, [("Upload-Complete", "?0")]) }
        let (upload, settings) = state.withLock { ($0.uploads[index], $0.settings) }
        let current = Int64(upload.bytes.count)
        guard offset == current else {
            return try refuse(
                exchange, 409, [("Upload-Complete", "?0"), ("Upload-Offset", "\(current)")],
                problem: Self.problem(
                    "mismatching-upload-offset",
                    #","expected-offset":\#(current),"provided-offset":\#(offset)"#))
        }
        let count = Self.integer(head.field("Content-Length")) ?? 0
        if upload.isComplete {
            // A replay of the final response, for a request that completes what is complete.
            guard isLast, count == 0 else { return try refuse(exchange, 409, [("Upload-Complete", "?0")]) }
            return try complete(exchange, index, nil, fault)
        }
        guard case .success(let length) = length(head, at: offset),
            length == nil || upload.length == nil || length == upload.length
        else {
            return try refuse(
                exchange, 400, [("Upload-Complete", "?0")],
                problem: Self.problem("inconsistent-upload-length"))
        }
        if isTooLarge(count, settings) {
            return try refuse(exchange, 413, limits() + [("Upload-Complete", "?0")])
        }
        if let least = settings.limits["min-append-size"], count < least, !isLast {
            return try refuse(exchange, 400, limits() + [("Upload-Complete", "?0")])
        }
        if let length { state.withLock { $0.uploads[index].length = length } }
        try receive(exchange, index, number, fault)
        if isLast { return try complete(exchange, index, nil, fault) }
        if case .unanswered = fault { throw exchange.cut() }
        try exchange.respond(204, [("Upload-Complete", "?0")])
    }
}
