public import FoundationEssentials
public import RxHTTP
public import RxLite

/// Replays a cassette, or records it, according to the mode.
///
/// ```swift
/// let transport = try CassetteTransport(
///     "Cassettes/login.har", mode: .replayOrRecord, on: clock, network: CurlTransport.shared)
/// let client = Client(configuration: configuration, transport: transport)
/// // The calls to test.
/// try transport.finish()
/// ```
///
/// In the modes that send requests, ``scheduler`` is that of the network, and replayed exchanges run on it, too.
/// Thread-safe.
public final class CassetteTransport: Transport {
    /// The source of the responses.
    public let mode: CassetteMode
    /// The scheduler of the exchanges.
    public let scheduler: any Scheduler

    private let path: String
    private let network: (any Transport)?
    private let replay: ReplayTransport?
    private let recording: RecordingTransport?

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - path: the path of the cassette. Only ``CassetteMode/replay`` needs the file to exist.
    ///   - mode: the source of the responses.
    ///   - clock: the scheduler in ``CassetteMode/replay``.
    ///   - rules: the rules of the replay. Default ``ReplayRules/standard``.
    ///   - replacements: see ``RecordingTransport/init(_:after:replacing:)``. Default none.
    ///   - network: sends the requests; made only if the mode needs it.
    /// - Throws: a ``FixtureError`` if the cassette is needed and cannot be read, or if ``CassetteMode/replayOrRecord``
    ///   is to use the exchanges in the recorded order.
    public init(
        _ path: String, mode: CassetteMode, on clock: any Scheduler, rules: ReplayRules = .standard,
        replacing replacements: [String: String] = [:], network: @autoclosure () -> any Transport
    ) throws(FixtureError) {
        guard mode != .replayOrRecord || !rules.keepsOrder else {
            throw FixtureError(
                .invalid("in the recorded order no exchange can be added; use record"), file: path,
                path: "ReplayRules.keepsOrder")
        }
        self.mode = mode
        self.path = path
        let network = mode == .replay ? nil : network()
        self.network = network
        let former: Cassette
        switch mode {
        case .replay: former = try Cassette(contentsOf: path)
        case .replayOrRecord: former = try Cassette(ifExists: path)
        case .record, .passthrough: former = Cassette()
        }
        scheduler = network?.scheduler ?? clock
        let replays = mode == .replay || mode == .replayOrRecord
        replay = replays ? ReplayTransport(former, on: scheduler, rules: rules) : nil
        recording = network.flatMap {
            mode.isRecording ? RecordingTransport($0, after: former, replacing: replacements) : nil
        }
    }

    /// The scheduler that the network chooses; in ``CassetteMode/replay`` that of the exchanges.
    public func scheduler(for origin: Origin?) -> any Scheduler {
        network?.scheduler(for: origin) ?? scheduler
    }

    /// The store of the network's transport.
    public var hsts: HSTSStore? { network?.hsts }

    /// The files of the network's transport; in ``CassetteMode/replay`` those of ``ReplayTransport/files``.
    public var files: any FileSystem { network?.files ?? replay?.files ?? AbsentFileSystem() }

    /// The changes of the network's connections.
    public var connections: Observable<ConnectionEvent, Never> { network?.connections ?? .never() }

    /// The exchange of the cassette or of the network.
    public func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        switch mode {
        case .replay: break
        case .passthrough: if let network { return network.send(request) }
        case .record: if let recording { return recording.send(request) }
        case .replayOrRecord:
            guard let replay, let recording else { break }
            return Observable(scheduler: scheduler) { observer in
                guard observer.scope.isOpen, !replay.answer(request, to: observer) else { return }
                // The server would not know a placeholder.
                if let placeholder = replay.placeholders(in: request).first {
                    let text =
                        "the request contains \(placeholder) of the cassette; record the whole flow again"
                    return observer.fail(NetworkError(.unrecorded, text, request: request))
                }
                recording.send(request).subscribe(observer)
            }
        }
        return replay?.send(request)
            ?? .fail(NetworkError(.unrecorded, "there is no cassette", request: request))
    }

    /// Ends the use: checks a replay, or writes the recorded exchanges, if there are any.
    ///
    /// - Throws: a ``ReplayMismatch`` in ``CassetteMode/replay``, or a ``FixtureError`` if the file cannot be written.
    public func finish() throws {
        switch mode {
        case .replay: try replay?.verify()
        case .record, .replayOrRecord:
            if let recording, recording.hasRecorded { try recording.cassette.write(to: path) }
        case .passthrough: break
        }
    }
}

/// The source of the responses of a ``CassetteTransport``. The raw values are those of the environment variable
/// ``CassetteMode/variable``.
public enum CassetteMode: String, Sendable, CaseIterable {
    /// The cassette; nothing is sent.
    case replay
    /// The network; the exchanges replace those of the cassette.
    case record
    /// The cassette, or the network for requests that match no exchange; these are added to the cassette.
    case replayOrRecord
    /// The network; the cassette is neither read nor written.
    case passthrough

    /// The name of the environment variable that selects the mode of tests.
    public static let variable = "RX_CASSETTES"

    /// The mode that the environment selects: the value of ``variable``, by default ``replay``.
    ///
    /// - Parameter environment: the variables. Default those of the process.
    /// - Throws: a ``FixtureError`` for an unknown mode, and if the mode records although `CI` is set and not `false` or
    ///   `0`.
    public static func fromEnvironment(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(FixtureError) -> CassetteMode {
        guard let name = environment[variable], !name.isEmpty else { return .replay }
        guard let mode = CassetteMode(rawValue: name) else {
            let names = allCases.map(\.rawValue).joined(separator: ", ")
            throw FixtureError(.invalid("\(name.debugDescription) is none of \(names)"), path: variable)
        }
        let isInCI = !["", "0", "false"].contains(environment["CI"] ?? "")
        guard !isInCI || !mode.isRecording else { throw FixtureError(.recordingInCI) }
        return mode
    }

    /// Whether the mode writes the cassette.
    var isRecording: Bool { self == .record || self == .replayOrRecord }
}
