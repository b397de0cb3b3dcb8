import Foundation
import HTTPTypes
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

@testable import RxClient

/// Whole calls, event by event: the requests on the wire, the traffic, the accessories, the indicator, interceptors and
/// the subscriber, each with its virtual time.
///
/// `Transcripts.txt` has the expected events. With `RECORD_TRANSCRIPTS=1` the tests write it anew.
@Suite struct CallTranscriptTests {
    private static let records = ProcessInfo.processInfo.environment["RECORD_TRANSCRIPTS"] == "1"
    private static let file = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Transcripts.txt")

    /// The expected lines by the name of the scenario.
    private static let expected: [String: [String]] = {
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [:] }
        let sections = ("\n" + text).components(separatedBy: "\n== ").dropFirst().map { section in
            section.split(separator: "\n").map(String.init)
        }
        return Dictionary(uniqueKeysWithValues: sections.map { ($0[0], Array($0.dropFirst())) })
    }()

    @Test(.enabled(if: !records), arguments: TranscriptScenario.all)
    func eachEventIsAsExpected(_ scenario: TranscriptScenario) throws {
        let expected = try #require(Self.expected[scenario.name], "record the transcript first")
        let actual = try TranscriptFixture.run(scenario)
        guard actual != expected else { return }
        let index = zip(actual, expected).prefix { $0 == $1 }.map { $0 }.count
        func line(_ lines: [String]) -> String { index < lines.count ? lines[index] : "the end" }
        Issue.record("line \(index + 1): \(line(actual)), instead of: \(line(expected))")
    }

    @Test(arguments: TranscriptScenario.all)
    func aListenerChangesNothing(_ scenario: TranscriptScenario) throws {
        let observed = try TranscriptFixture.run(scenario).filter { !$0.contains(" traffic ") }
        #expect(try TranscriptFixture.run(scenario, isObserved: false) == observed)
    }

    @Test(.enabled(if: !records)) func eachTranscriptHasItsScenario() {
        #expect(Set(Self.expected.keys) == Set(TranscriptScenario.all.map(\.name)))
    }

    @Test(.enabled(if: records)) func recording() throws {
        let sections = try TranscriptScenario.all.map { scenario in
            "== \(scenario.name)\n" + (try TranscriptFixture.run(scenario)).joined(separator: "\n") + "\n"
        }
        try sections.joined(separator: "\n").write(to: Self.file, atomically: true, encoding: .utf8)
        Issue.record(
            "\(sections.count) transcripts are written; unset RECORD_TRANSCRIPTS to compare with them")
    }
}

/// A server, a configuration and the actions of subscribers.
struct TranscriptScenario: Sendable, CustomTestStringConvertible {
    let name: String
    let rules: [ScriptedTransport.Rule]
    let configure: @Sendable (inout ClientConfiguration, TranscriptSetting) -> Void
    let act: @Sendable (TranscriptFixture) throws -> Void

    init(
        _ name: String, _ rules: [ScriptedTransport.Rule],
        _ configure: @escaping @Sendable (inout ClientConfiguration, TranscriptSetting) -> Void = { _, _ in },
        act: @escaping @Sendable (TranscriptFixture) throws -> Void
    ) {
        self.name = name
        self.rules = rules
        self.configure = configure
        self.act = act
    }

    /// The scenario with interceptors that note their events.
    var intercepted: TranscriptScenario {
        TranscriptScenario(
            name + ", intercepted", rules,
            { configuration, setting in
                configure(&configuration, setting)
                configuration.options.interceptors = setting.transcript.interceptors.followed(
                    by: configuration.options.interceptors)
            }, act: act)
    }

    var testDescription: String { name }
}

/// The surroundings of a scenario's client.
struct TranscriptSetting: Sendable {
    let transcript: CallTranscript
    /// A client without a session, for logins.
    let plain: Client

    /// A session that logs in by `POST /login`, and renews its token by `POST /renew` if it has a refresh token.
    func session(_ token: String? = "old", refreshToken: String? = nil, requiresLogin: Bool = false)
        -> Session
    {
        let plain = plain
        let gain = { @Sendable (path: String, body: Parameters) -> Observable<Credential, NetworkError> in
            plain.post(path, body).decode([String: String].self)
                .map { Credential(token: $0["token"] ?? "-", refreshToken: refreshToken) }
        }
        let renewal = { @Sendable (credential: Credential) -> Observable<Credential, NetworkError> in
            gain("/renew", .json(["by": credential.refreshToken ?? "-"]))
        }
        let session = Session(
            credential: token.map { Credential(token: $0, refreshToken: refreshToken) },
            requiresLogin: requiresLogin,
            renewal: refreshToken == nil ? nil : renewal, login: { gain("/login", .none) })
        session.events.subscribe { event in
            switch event {
            case .loggedIn: transcript.note("session", "logged in")
            case .renewed: transcript.note("session", "renewed")
            case .loggedOut(let error):
                transcript.note("session", "logged out \(error?.code.rawValue ?? "-")")
            case .storageFailed: transcript.note("session", "storage failed")
            }
        }
        return session
    }
}

/// One run of a scenario.
final class TranscriptFixture: Sendable {
    let clock = VirtualScheduler()
    let transcript: CallTranscript
    let client: Client
    let next = Signal<Void>()
    private let subscriptions = Mutex<[String: Subscription]>([:])

    static func run(_ scenario: TranscriptScenario, isObserved: Bool = true) throws -> [String] {
        let fixture = TranscriptFixture(scenario, isObserved: isObserved)
        return try fixture.run(scenario)
    }

    private init(_ scenario: TranscriptScenario, isObserved: Bool) {
        let scripted = ScriptedTransport(on: clock, scenario.rules)
        transcript = CallTranscript(on: clock)
        let transport = TranscriptTransport(base: scripted, transcript: transcript)
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.retry = .exponentialBackoff(backoff: .exponential(base: .milliseconds(100)))
        let plain = Client(configuration: configuration, transport: transport)
        configuration.options.accessories = [transcript.accessory]
        scenario.configure(&configuration, TranscriptSetting(transcript: transcript, plain: plain))
        client = Client(configuration: configuration, transport: transport)
        if isObserved { transcript.observe(client.traffic) }
        let transcript = transcript
        client.activity.count.observable.subscribe { transcript.note("activity", "\($0)") }
        client.errorTips.subscribe { transcript.note("tip", transcript.text($0)) }
    }

    private func run(_ scenario: TranscriptScenario) throws -> [String] {
        try scenario.act(self)
        try clock.advance(by: .seconds(600))
        if clock.pendingCount > 0 { transcript.note("clock", "\(clock.pendingCount) timers left") }
        return transcript.lines
    }

    // MARK: - Actions

    func start<Value, Failure>(_ stream: Observable<Value, Failure>, as name: String = "a") {
        transcript.note(name, "subscribes")
        let subscription = transcript.observe(name, stream)
        subscriptions.withLock { $0[name] = subscription }
    }

    func advance(_ milliseconds: Int) throws { try clock.advance(by: .milliseconds(milliseconds)) }

    func cancel(_ name: String = "a") { change(name, "cancels") { $0.cancel() } }
    func pause(_ name: String = "a") { change(name, "pauses") { $0.pause() } }
    func resume(_ name: String = "a") { change(name, "resumes") { $0.resume() } }

    private func change(_ name: String, _ action: String, _ body: (Subscription) -> Void) {
        transcript.note(name, action)
        if let subscription = subscriptions.withLock({ $0[name] }) { body(subscription) }
        transcript.note(name, "\(action), done")
    }
}
