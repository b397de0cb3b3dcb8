import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

@testable import RxClient

/// Each stage, chained by hand, has the same effect as for an endpoint: the same requests at the same times,
/// the same result.
@Suite struct StageTests {
    typealias Reply = ScriptedTransport.Reply

    private struct Fetch: Endpoint {
        typealias Output = Int
        let path = "/x"
        let method = HTTPRequest.Method.get
        let parameters = Parameters.query(["a": 1])
        var part: PayloadPath?
        var options: RequestOptions { RequestOptions(part: part) }
        var isValidated = false

        func validate(_ answer: RxClient.TypedResponse<Int>) throws(NetworkError) {
            if isValidated, answer.output == 0 { throw NetworkError(.noContent, "nothing") }
        }
    }

    private static let get = InlineEndpoint(.get, "/x", query: ["a": 1])
    private static let envelope = Envelope(
        success: 0, loginExpired: 11010, noContent: 404, retryLater: 503, retryDelay: "wait")
    private static let everySecond = RetryPolicy<NetworkError>.exponentialBackoff(
        backoff: .constant(.seconds(1)))

    private static let credentialStage = Stage(
        "credential", .json("1"),
        endpoint: { fixture in fixture.client { $0.session = fixture.session }.request(get).map(\.text) },
        byHand: { fixture in
            let client = fixture.client()
            return Observable.deferred { () throws(NetworkError) in
                fixture.session.authorize(try client.serialized(get))
            }
            .flatMap { request in client.exchange(request).response(to: request) }
            .map(\.text)
        })

    private static let cookiesStage = Stage(
        "cookies", .status(.found, headers: [.setCookie: "a=1", .location: "/y"]), .json("1"),
        endpoint: { fixture in fixture.client { $0.cookies = fixture.jar }.request(get).map(\.text) },
        byHand: { fixture in fixture.exchange(.get) { $0.cookies = fixture.jar }.map(\.text) })

    private static let redirectsStage = Stage(
        "redirects", .status(.seeOther, headers: [.location: "/y"]), .json("1"),
        endpoint: { fixture in
            fixture.client().request(InlineEndpoint(.post, "/x", query: ["a": 1])).map(\.text)
        },
        byHand: { fixture in fixture.exchange(.post).map(\.text) })

    private static let redirectsRefusedStage = Stage(
        "redirects refused", .status(.seeOther, headers: [.location: "/y"]),
        endpoint: { fixture in fixture.client { $0.redirects = .refused }.request(get).map(\.text) },
        byHand: { fixture in fixture.exchange(.get, following: .refused).map(\.text) })

    private static let statusStage = Stage(
        "status", .json(#"{"error":{"message":"no tea"}}"#, status: .notFound),
        endpoint: { fixture in fixture.client().request(get).map(\.text) },
        byHand: { fixture in fixture.exchange.checkStatus().map(\.text) })

    private static let statusWithAnEnvelopeStage = Stage(
        "status with an envelope", .json(#"{"code":404,"message":"no tea"}"#, status: .badRequest),
        endpoint: { fixture in fixture.client { $0.options.envelope = envelope }.request(get).map(\.text) },
        byHand: { fixture in fixture.exchange.checkStatus(envelope: envelope).map(\.text) })

    private static let contentTypeStage = Stage(
        "content type", .bytes(Array("1".utf8), headers: [.contentType: "text/html"]),
        endpoint: { fixture in fixture.client().request(Fetch()).map(String.init) },
        byHand: { fixture in fixture.exchange.checkContentType(.json).decode(Int.self).map(String.init) })

    private static let unwrapStage = Stage(
        "unwrap", .json(#"{"code":0,"data":7}"#),
        endpoint: { fixture in
            fixture.client { $0.options.envelope = envelope }.request(Fetch()).map(String.init)
        },
        byHand: { fixture in fixture.exchange.unwrap(envelope).decode(Int.self).map(String.init) })

    private static let unwrapAFailureStage = Stage(
        "unwrap a failure", .json(#"{"code":9,"message":"no"}"#),
        endpoint: { fixture in
            fixture.client { $0.options.envelope = envelope }.request(Fetch()).map(String.init)
        },
        byHand: { fixture in fixture.exchange.unwrap(envelope).decode(Int.self).map(String.init) })

    private static let reloginStage = Stage(
        "relogin", .status(.unauthorized), .json("1"),
        endpoint: { fixture in fixture.client { $0.session = fixture.session }.request(get).map(\.text) },
        byHand: { fixture in
            fixture.client { $0.session = fixture.session }.response(get)
                .relogin(through: fixture.session).map(\.text)
        })

    private static let reloginByAnEnvelopeStage = Stage(
        "relogin by an envelope", .json(#"{"code":11010}"#), .json(#"{"code":11010,"message":"still"}"#),
        endpoint: { fixture in
            fixture.client {
                $0.session = fixture.session
                $0.options.envelope = envelope
            }.request(get).map(\.text)
        },
        byHand: { fixture in
            fixture.client { $0.session = fixture.session }.response(get)
                .unwrap(envelope).relogin(through: fixture.session).map(\.text)
        })

    private static let retryStage = Stage(
        "retry", .failure(.connectionLost), .status(.serviceUnavailable, headers: [.retryAfter: "5"]),
        .json("1"),
        endpoint: { fixture in fixture.client { $0.options.retry = everySecond }.request(get).map(\.text) },
        byHand: { fixture in fixture.exchange.checkStatus().retry(everySecond, on: fixture.clock).map(\.text)
        })

    private static let retryByAnEnvelopeStage = Stage(
        "retry by an envelope", .json(#"{"code":503,"wait":4}"#), .json(#"{"code":0,"data":1}"#),
        endpoint: { fixture in
            fixture.client {
                $0.options.retry = everySecond
                $0.options.envelope = envelope
            }.request(Fetch()).map(String.init)
        },
        byHand: { fixture in
            fixture.exchange.unwrap(envelope).retry(everySecond, on: fixture.clock).decode(Int.self).map(
                String.init)
        })

    private static let partStage = Stage(
        "part", .json(#"{"page":{"count":3}}"#),
        endpoint: { fixture in fixture.client().request(Fetch(part: "page.count")).map(String.init) },
        byHand: { fixture in fixture.exchange.part("page.count").decode(Int.self).map(String.init) })

    private static let decodeStage = Stage(
        "decode", .json(#""text""#),
        endpoint: { fixture in fixture.client().request(Fetch()).map(String.init) },
        byHand: { fixture in fixture.exchange.decode(Int.self).map(String.init) })

    private static let validatorStage = Stage(
        "validator", .json("5"),
        endpoint: { fixture in fixture.client().request(Fetch(isValidated: true)).map(String.init) },
        byHand: { fixture in
            fixture.exchange.decode(Int.self).validate { value throws(NetworkError) in
                if value == 0 { throw NetworkError(.noContent, "nothing") }
            }
            .map(String.init)
        })

    private static let reachabilityStage = Stage(
        "reachability", .json("1"),
        endpoint: { fixture in
            fixture.reachability.set(.unreachable)
            return fixture.client { $0.reachability = fixture.reachability }.request(get).map(\.text)
        },
        byHand: { fixture in
            fixture.reachability.set(.unreachable)
            return fixture.exchange.checkReachability(by: fixture.reachability).map(\.text)
        })

    private static let accessoryStage = Stage(
        "accessory", .status(.badGateway),
        endpoint: { fixture in
            fixture.client { $0.options.accessories = [fixture.log.accessory] }.request(get).map(\.text)
        },
        byHand: { fixture in
            let client = fixture.client()
            return .deferred { () throws(NetworkError) in
                let request = try client.serialized(get)
                return client.exchange(request).response(to: request).checkStatus()
                    .accompanied(by: [fixture.log.accessory], as: request).map(\.text)
            }
        })

    /// The chain of the README: envelope off, then login, then retry.
    private static func chain(_ name: String, _ answers: Reply...) -> Stage {
        @Sendable func client(_ fixture: Fixture) -> Client {
            fixture.client {
                $0.session = fixture.session
                $0.options.envelope = envelope
                $0.options.retry = everySecond
            }
        }
        return Stage(
            "chain: \(name)", answers,
            endpoint: { fixture in client(fixture).request(Fetch()).map(String.init) },
            byHand: { fixture in
                client(fixture).response(Fetch())
                    .unwrap(envelope)
                    .relogin(through: fixture.session)
                    .retry(everySecond, on: fixture.clock)
                    .decode(Int.self).map(String.init)
            })
    }

    private static let success = Reply.json(#"{"code":0,"data":1}"#)
    private static let later = Reply.json(#"{"code":503,"wait":4}"#)
    private static let expired = Reply.json(#"{"code":11010}"#)

    static let chains: [Stage] = [
        chain("success", success), chain("refused", .json(#"{"code":7,"message":"no"}"#)),
        chain("asked to come later", later, success), chain("login expired", expired, success),
        chain("login expired by status", .status(.unauthorized), success),
        chain("refused twice", expired, expired), chain("later, then login expired", later, expired, success),
        chain("login expired, then later", expired, later, success),
        chain("connection lost, then login expired", .failure(.connectionLost), expired, success),
        chain("of another type", .json(#"{"code":0,"data":"tea"}"#)), chain("not found", .status(.notFound)),
        chain("always later", later, later, later),
    ]

    static let stages: [Stage] =
        chains + [
            credentialStage, cookiesStage, redirectsStage, redirectsRefusedStage, statusStage,
            statusWithAnEnvelopeStage, contentTypeStage, unwrapStage, unwrapAFailureStage, reloginStage,
            reloginByAnEnvelopeStage, retryStage, retryByAnEnvelopeStage, partStage, decodeStage,
            validatorStage,
            reachabilityStage, accessoryStage,
        ]

    @Test(arguments: stages)
    func isTheSameByHand(_ stage: Stage) throws {
        let endpoint = Fixture(stage.answers), byHand = Fixture(stage.answers)
        let expected = try endpoint.run(stage.endpoint(endpoint))
        #expect(try byHand.run(stage.byHand(byHand)) == expected)
        #expect(
            endpoint.transport.exchanges.count == stage.answers.count
                || stage.testDescription == "reachability")
    }

    /// A validator's error for an empty response is the same by hand, except for details it cannot know.
    @Test func validator() throws {
        let endpoint = Fixture([.json("0")]), byHand = Fixture([.json("0")])
        let first = Recorder(endpoint.client().request(Fetch(isValidated: true)), on: endpoint.clock)
        let second = Recorder(
            byHand.exchange.decode(Int.self).validate { value throws(NetworkError) in
                if value == 0 { throw NetworkError(.noContent, "nothing") }
            }, on: byHand.clock)
        try endpoint.clock.run()
        try byHand.clock.run()
        #expect(first.failure?.code == second.failure?.code)
        #expect(first.failure?.message == second.failure?.message)
    }

    /// Accessories by hand are called once for each of success, failure and cancel.
    @Test func accessories() throws {
        let answers: [(Reply, String)] = [
            (.json("1"), "succeeded"), (.failure(.connect), "failed"), (.stall, "cancelled"),
        ]
        for (answer, name) in answers {
            let fixture = Fixture([answer])
            var request = try fixture.client().serialized(Self.get)
            request.timeouts = .unlimited
            let recorder = Recorder(
                fixture.client().exchange(request).response(to: request)
                    .accompanied(by: [fixture.log.accessory], as: request), on: fixture.clock)
            try fixture.clock.run()
            recorder.cancel()
            #expect(fixture.log.lines == ["willStart GET", "willStop \(name)", "didStop \(name)"])
        }
    }
}
