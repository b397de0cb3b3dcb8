import FoundationEssentials
import HTTPTypes
import RxNetworking
import RxSimulation
import RxTesting
import Scenarios
import Testing

/// The invariants of each scenario notice a bug of the kind that they are for.
@Suite struct PlantedBugTests {
    private struct Bug: Interceptor, CustomTestStringConvertible {
        let scenario: String
        let invariant: String
        let intercept: @Sendable (Request, Next) -> Observable<CallEvent, NetworkError>

        init(
            _ scenario: String, violates invariant: String,
            _ intercept: @escaping @Sendable (Request, Next) -> Observable<CallEvent, NetworkError>
        ) {
            self.scenario = scenario
            self.invariant = invariant
            self.intercept = intercept
        }

        var testDescription: String { "\(scenario): \(invariant)" }

        func intercept(
            _ request: Request, in call: CallContext, _ next: Next
        ) -> Observable<CallEvent, NetworkError> { intercept(request, next) }
    }

    /// A bug that changes requests.
    private static func bug(
        _ scenario: String, violates invariant: String, _ change: @escaping @Sendable (inout Request) -> Void
    ) -> Bug {
        Bug(scenario, violates: invariant) { request, next in
            var request = request
            change(&request)
            return next(request)
        }
    }

    /// The event with another value of a field, if it is a response.
    private static func changing(
        _ event: CallEvent, _ name: HTTPField.Name, _ change: (String) -> String
    ) -> CallEvent {
        guard case .response(var response) = event, let value = response.head[name] else { return event }
        var fields = response.head.headerFields
        fields[name] = change(value)
        response.head = ResponseHead(status: response.status, headerFields: fields)
        return .response(response)
    }

    private static let bugs = [
        // The former token for ever.
        bug("session", violates: "check succeeds") { request in
            if request.headerFields[.authorization] != nil {
                request.headerFields[.authorization] = "Bearer t1"
            }
        },
        // The first account for ever.
        bug("accounts", violates: "nothing is sent as another account") { request in
            if request.headerFields[.authorization] != nil {
                request.headerFields[.authorization] = "Bearer A1.0"
            }
        },
        Bug("retry", violates: "no POST twice without a key") { request, next in
            next(request).catch { _ in next(request) }
        },
        Bug("retry", violates: "the wait that the server asks for") { request, next in
            next(request).catch { _ in next(request) }
        },
        bug("paging", violates: "no item lost, none twice") { request in
            let url = request.url.absoluteString
            request.url = URL(string: url.replacing("page=4", with: "page=3")) ?? request.url
        },
        Bug("paging", violates: "the list reaches both ends") { request, next in
            next(request).map {
                changing($0, HTTPField.Name("Link")!) { $0.replacing("rel=\"prev\"", with: "rel=\"old\"") }
            }
        },
        Bug("failover", violates: "call ends") { _, _ in .never() },
        // A stored response is confirmed whatever has changed.
        Bug("caching", violates: "the truth in the end") { request, next in
            guard let tag = request.headerFields[.ifNoneMatch] else { return next(request) }
            let head = ResponseHead(status: .notModified, headerFields: [.eTag: tag])
            return next.respond(with: Response(head: head, body: [], request: request))
        },
        // Under one key, the response of another URL, language or account.
        bug("caching", violates: "the response of its own URL, language and account") { request in
            let url = request.url.absoluteString
            request.url = URL(string: url.replacing("/stock/2", with: "/stock/1")) ?? request.url
        },
        bug("caching", violates: "the response of its own URL, language and account") { request in
            if request.headerFields[.acceptLanguage] != nil { request.headerFields[.acceptLanguage] = "de" }
        },
        bug("caching", violates: "the response of its own URL, language and account") { request in
            if request.headerFields[.authorization] != nil {
                request.headerFields[.authorization] = "Bearer anna"
            }
        },
        Bug("caching", violates: "must-revalidate is never stale") { request, next in
            next(request).map { changing($0, .cacheControl) { $0.replacing(", must-revalidate", with: "") } }
        },
        Bug("caching", violates: "no staler than its terms allow") { request, next in
            next(request).map { changing($0, .cacheControl) { $0.replacing("max-age=", with: "max-age=1") } }
        },
        // The rest of a file is another than that of its beginning.
        Bug("downloads", violates: "a finished file is whole, of one response") { request, next in
            guard request.headerFields[.range] != nil else { return next(request) }
            return next(request).map { event in
                guard case .transfer(.chunk(let bytes)) = event else { return event }
                return .transfer(.chunk(bytes.map { $0 &+ 1 }))
            }
        },
        bug("events", violates: "every event once, in order") { request in
            request.headerFields[HTTPField.Name("Last-Event-ID")!] = nil
        },
        Bug("limits", violates: "no more requests at once than allowed") { request, next in
            .merge(next(request), next(request).ignoreElements(as: CallEvent.self))
        },
    ]

    @Test(arguments: bugs)
    private func aBugIsNoticed(_ bug: Bug) throws {
        let scenario = try #require(House.scenarios.first { $0.name == bug.scenario })
        House.$plantedBug.withValue(bug) {
            for seed in UInt64(1)...500 {
                do throws(SimulationFailure) {
                    try Simulation(seed: seed).run(scenario.run)
                } catch {
                    if error.violations.contains(where: { $0.name == bug.invariant }) { return }
                }
            }
            Issue.record("500 seeds do not violate it")
        }
    }
}
