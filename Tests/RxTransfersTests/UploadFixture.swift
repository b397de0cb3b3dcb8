import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxTransfers

/// The environment of uploads in virtual time: a scripted server and files in memory.
struct UploadFixture {
    static let content = (0..<100).map { UInt8($0) }

    let clock: VirtualScheduler
    let files: MemoryFileSystem
    let transport: ScriptedTransport
    /// The bodies of the requests.
    let bodies = Bodies()

    /// The bodies that the requests have had, read by the fixture.
    final class Bodies: Sendable {
        let contents = Mutex<[[UInt8]]>([])
    }

    init(
        on clock: VirtualScheduler = VirtualScheduler(),
        _ answer: @escaping @Sendable (Request, Int) -> ScriptedTransport.Reply
    ) {
        self.clock = clock
        files = MemoryFileSystem(on: clock)
        files["/d/f"] = Self.content
        let count = Mutex(0)
        let counter = Counter(count: count)
        transport = ScriptedTransport(on: clock, files: files) { request in
            answer(request, counter.next())
        }
    }

    private final class Counter: Sendable {
        private let count: Mutex<Int>
        init(count: consuming sending Mutex<Int>) { self.count = count }
        func next() -> Int {
            count.withLock { count in
                defer { count += 1 }
                return count
            }
        }
    }

    /// A fixture that gives these replies in their order, and then fails.
    init(_ replies: [ScriptedTransport.Reply]) {
        self.init { _, index in
            index < replies.count ? replies[index] : .failure(.unscripted, "no reply \(index)")
        }
    }

    var client: Client { Client(baseURL: "http://shop.test", transport: transport) }

    func start(
        _ content: UploadContent = .file("/d/f"), by method: UploadMethod = .plain(),
        to endpoint: InlineEndpoint = .post("/films"), records: UploadRecords = .automatic
    ) -> Recorder<UploadEvent<Response>, NetworkError> {
        Recorder(client.upload(content, to: endpoint, by: method, records: records), on: clock)
    }

    /// Method and path of each request, with the named fields.
    func sent(_ names: String...) -> [String] {
        transport.requests.map { request in
            let fields = names.compactMap { name in
                HTTPField.Name(name).flatMap { request.headerFields[$0] }.map { "\(name)=\($0)" }
            }
            return (["\(request.method.rawValue) \(request.url.path())"] + fields).joined(separator: " ")
        }
    }

    /// The ranges of the contents, by the count of the bodies.
    var counts: [Int64] { transport.requests.map { $0.body.count ?? -1 } }
}

extension UploadMethod {
    /// Without a digest, and with waits of a second.
    static func plain(
        isCareful: Bool = false, isKnown: Bool = false, partSize: Int64? = nil, retries: Int = 3
    ) -> UploadMethod {
        .resumable(
            isCareful: isCareful, isKnown: isKnown, options: .plain(partSize: partSize, retries: retries))
    }

    /// tus without a digest, and with waits of a second.
    static func plainTus(partSize: Int64? = nil, creationSize: Int64 = 0) -> UploadMethod {
        .tus(creationSize: creationSize, options: .plain(partSize: partSize, retries: 3))
    }
}

extension Backoff {
    /// Twice the last wait, and a second more.
    static var afterTheLast: Backoff { Backoff { history, _ in history.lastDelay * 2 + .seconds(1) } }
}

extension UploadMethod.Options {
    static func plain(partSize: Int64?, retries: Int = 3) -> Self {
        var options = Self()
        options.digest = .none
        options.partSize = partSize
        options.retries = retries
        options.backoff = .constant(.seconds(1))
        return options
    }

    /// Waits of 1, 3 and 7 seconds: each depends on the one before.
    static var growing: Self {
        var options = plain(partSize: nil, retries: 3)
        options.backoff = .afterTheLast
        return options
    }
}

extension ScriptedTransport.Reply {
    /// A response with fields by their names.
    static func reply(
        _ status: Int, _ fields: [String: String] = [:], _ body: String = ""
    ) -> Self { .bytes(Array(body.utf8), status: .init(code: status), headers: .named(fields)) }

    /// A 104 of the version 8 with fields, then what follows.
    static func interim(_ fields: [String: String], then rest: [ScriptedTransport.Step]) -> Self {
        var fields = fields
        if fields["Upload-Draft-Interop-Version"] == nil { fields["Upload-Draft-Interop-Version"] = "8" }
        let head = ResponseHead(status: .init(code: 104), headerFields: .named(fields))
        return Self([.interim(head)] + rest)
    }
}

extension [ScriptedTransport.Step] {
    /// A complete response.
    static func response(_ status: Int, _ fields: [String: String] = [:]) -> Self {
        [.head(ResponseHead(status: .init(code: status), headerFields: .named(fields))), .finish]
    }

    /// A lost connection.
    static var lost: Self { [.fail(NetworkError(.connectionLost, "cut"))] }
}

extension HTTPFields {
    static func named(_ fields: [String: String]) -> HTTPFields {
        var result = HTTPFields()
        for (name, value) in fields { if let name = HTTPField.Name(name) { result[name] = value } }
        return result
    }
}

extension Recorder where Element == UploadEvent<Response> {
    /// The kinds of the events, without progress.
    var kinds: [String] {
        values.compactMap { event in
            switch event {
            case .started(let offset): "started \(offset)"
            case .progress: nil
            case .paused(let error, let delay): "paused \(error.code) \(delay / .seconds(1))"
            case .resumed(let offset): "resumed \(offset)"
            case .verified(let digest): "verified \(digest.algorithm.rawValue)"
            case .finished(let response): "finished \(response.status.code)"
            }
        }
    }

    var progress: [Int64] {
        values.compactMap { if case .progress(let rate) = $0 { rate.bytes } else { nil } }
    }
}
