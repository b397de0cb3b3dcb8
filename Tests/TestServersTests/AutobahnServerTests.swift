import Testing

@testable import TestServers

@Suite(.timeLimit(.minutes(2)))
struct AutobahnServerTests {
    @Test func theTableHasTheCasesOfTheSuite() {
        let counts = [1: 16, 2: 11, 3: 7, 4: 10, 5: 20, 6: 145, 7: 37, 9: 54, 10: 1, 12: 90, 13: 126]
        #expect(Dictionary(grouping: AutobahnCase.all, by: \.section).mapValues(\.count) == counts)
        #expect(Set(AutobahnCase.all.map(\.number)).count == 517)
        let places = AutobahnCase.all.map { $0.number.split(separator: ".").compactMap { Int($0) } }
        #expect(places == places.sorted { $0.lexicographicallyPrecedes($1) })
    }

    @Test func theSequencesAreValidOrInvalidAsTheTableSays() {
        for group in UTF8Sequence.groups {
            for sequence in group.sequences {
                let isValid = String(validating: sequence.octets.bytes, as: UTF8.self) != nil
                #expect(isValid == sequence.isValid, "\(group.name): \(sequence.octets)")
            }
        }
    }

    /// Runs one case with a client that behaves in this manner.
    ///
    /// - Parameter limits: the factor for the times that a conforming client never needs.
    private func outcome(
        of number: String, _ manner: EchoClient.Manner, limits: Double
    ) async throws -> AutobahnOutcome {
        let tested = try #require(AutobahnCase.numbered(number))
        let server = try AutobahnServer(
            cases: [tested], messageLimit: 10, pace: Pace(waits: 0.02, limits: limits))
        let outcomes = await server.run { await EchoClient.play(port: $0, number: $1, manner) }
        return try #require(outcomes.first)
    }

    @Test(arguments: [
        "1.1.1", "1.1.8", "1.2.7", "2.3", "2.5", "2.7", "2.11", "3.1", "3.3", "3.7", "4.1.4", "4.2.5", "5.2",
        "5.8", "5.14", "5.15", "5.17", "5.19", "6.1.3", "6.2.3", "6.3.2", "6.6.2", "6.6.3", "7.1.1", "7.1.2",
        "7.1.3", "7.1.5", "7.1.6", "7.3.1", "7.7.5", "7.13.2", "9.1.1", "9.3.9", "9.5.6", "9.7.2", "10.1.1",
    ])
    func aConformingClientIsOK(number: String) async throws {
        let outcome = try await outcome(of: number, .conforming, limits: 20)
        #expect(outcome.isOK, "\(outcome)")
        #expect((outcome.behavior == .informational) == ["7.1.6", "7.13.2"].contains(number))
    }

    @Test(
        arguments: [
            ("1.1.2", .corrupting, .failed, .ok),
            ("9.2.1", .corrupting, .failed, .ok),
            ("1.1.2", .unmasked, .failed, .unclean),
            ("2.2", .dropping, .ok, .unclean),
            ("2.2", .silent, .ok, .unclean),
            ("2.2", .wrongCode, .ok, .wrongCode),
            ("7.7.1", .wrongCode, .failed, .wrongCode),
            ("7.7.4", .wrongCode, .ok, .ok),
            ("7.13.1", .wrongCode, .informational, .informational),
            ("3.1", .lenient, .failed, .failed),
            ("4.2.3", .lenient, .failed, .failed),
            ("6.3.1", .lenient, .failed, .failed),
            ("2.2", .absent, .failed, .failed),
            // This client reads whole frames, so it notices invalid text late.
            ("6.4.1", .conforming, .nonStrict, .ok),
            // It offers no extension.
            ("12.1.1", .conforming, .unimplemented, .ok),
        ]
            as [(
                String, EchoClient.Manner, AutobahnOutcome.Behavior, AutobahnOutcome.CloseBehavior
            )])
    func anotherClientIsJudged(
        number: String, manner: EchoClient.Manner, behavior: AutobahnOutcome.Behavior,
        close: AutobahnOutcome.CloseBehavior
    ) async throws {
        let outcome = try await outcome(of: number, manner, limits: 1)
        #expect(outcome.behavior == behavior, "\(outcome)")
        #expect(outcome.closeBehavior == close, "\(outcome)")
    }

    @Test func aClientThatDoesNotConnectFails() async throws {
        let server = try AutobahnServer(cases: Array(AutobahnCase.all.prefix(2)))
        let outcomes = await server.run(patience: .zero) { _, _ in }
        #expect(outcomes.map(\.explanation) == Array(repeating: "the client did not connect", count: 2))
        #expect(outcomes.allSatisfy { $0.behavior == .failed && $0.closeBehavior == .failed })
    }

    /// The case is over, and the client still waits.
    @Test func aClientThatDoesNotReturnIsCancelled() async throws {
        let tested = try #require(AutobahnCase.numbered("2.1"))
        let server = try AutobahnServer(cases: [tested])
        let outcomes = await server.run(patience: .milliseconds(1)) { port, number in
            await EchoClient.play(port: port, number: number, .conforming)
            try? await Task.sleep(for: .seconds(3600))
        }
        #expect(outcomes.map(\.behavior) == [.ok])
    }

    @Test(arguments: [
        ("GET /runCase?case=1 HTTP/1.1\r\nHost: a\r\n\r\n", "no Upgrade: websocket"),
        (
            "POST /runCase?case=1 HTTP/1.1\r\nHost: a\r\n\r\n",
            "the request line “POST /runCase?case=1 HTTP/1.1”"
        ),
        (
            "GET /runCase?case=1 HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\n\r\n",
            "no Sec-WebSocket-Key of 16 octets"
        ),
    ])
    func aWrongRequestIsRefused(head: String, reason: String) async throws {
        let server = try AutobahnServer(cases: Array(AutobahnCase.all.prefix(1)))
        let response = try await PlainClient.exchange(head, port: server.port)
        #expect(response.hasPrefix("HTTP/1.1 400 "))
        let outcome = try #require(await server.outcome(of: 1, within: .seconds(30)))
        #expect(outcome.behavior == .failed)
        #expect(outcome.closeBehavior == .failed)
        #expect(outcome.explanation == reason)
    }

    @Test func theReportCountsBySection() {
        let behaviors: KeyValuePairs<String, AutobahnOutcome.Behavior> = [
            "1.1.1": .ok, "1.1.2": .failed, "6.4.1": .nonStrict,
        ]
        let outcomes = behaviors.map {
            AutobahnOutcome(
                number: $0.key, behavior: $0.value, explanation: "", closeBehavior: .ok, closeExplanation: "")
        }
        let report = AutobahnReport(outcomes)
        let rows = report.description.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(rows[1].suffix(6) == ["2", "1", "0", "1", "0", "0"])
        #expect(rows[2].suffix(6) == ["1", "0", "1", "0", "0", "0"])
        #expect(rows[3].suffix(6) == ["3", "1", "1", "1", "0", "0"])
        #expect(rows.dropFirst(4).compactMap(\.first) == ["1.1.2", "6.4.1"])
        #expect(!report.isOK)
    }
}
