#if Outbox
import Foundation
import HTTPTypes
import RxHTTP
import RxLite
import Testing

@testable import RxOutbox

/// The verdicts on failed attempts, under each guarantee.
@Suite struct DeliveryRulesTests {
    private enum Expected: String {
        case again, refused, keyReused, uncertain, inProgress, interrupted
    }

    private static let draft = DeliveryGuarantee.key("k", .draft(lifetime: .seconds(3600)))
    private static let stripe = DeliveryGuarantee.key("k", .stripe)

    private func verdict(
        _ error: NetworkError, _ guarantee: DeliveryGuarantee, mayHaveArrived: Bool = true
    ) -> String {
        let verdict = DeliveryRules.verdict(
            on: error, under: guarantee, mayHaveArrived: mayHaveArrived, at: .distantPast)
        return switch verdict {
        case .again(.failure, _): "again"
        case .again(.inProgress, _): "inProgress"
        case .again(.interrupted, _): "interrupted"
        case .again(.account, _): "account"
        case .again(.unreadable, _): "unreadable"
        case .dead(.refused): "refused"
        case .dead(.keyReused): "keyReused"
        case .dead(.uncertain): "uncertain"
        case .dead(let reason): "\(reason)"
        }
    }

    static func error(_ status: Int, _ fields: HTTPFields = [:]) -> NetworkError {
        var error = NetworkError(.status, "")
        error.head = ResponseHead(status: .init(code: status), headerFields: fields)
        return error
    }

    /// A status means what the rules of the key say.
    @Test(
        arguments: [
            (400, "refused", "refused", "refused", "refused"),
            (401, "refused", "refused", "refused", "refused"),
            (404, "refused", "refused", "refused", "refused"),
            (408, "again", "again", "again", "uncertain"),
            (409, "inProgress", "inProgress", "refused", "refused"),
            (413, "refused", "refused", "refused", "refused"),
            (422, "refused", "keyReused", "refused", "refused"),
            (425, "again", "again", "again", "uncertain"),
            (429, "again", "again", "again", "uncertain"), (500, "refused", "again", "again", "uncertain"),
            (501, "refused", "refused", "refused", "refused"),
            (502, "again", "again", "again", "uncertain"), (503, "again", "again", "again", "uncertain"),
            (504, "again", "again", "again", "uncertain"), (505, "refused", "refused", "refused", "refused"),
            (524, "again", "again", "again", "uncertain"),
        ] as [(Int, String, String, String, String)])
    func statuses(status: Int, stripe: String, draft: String, atLeast: String, atMost: String) {
        let error = Self.error(status)
        #expect(verdict(error, Self.stripe) == stripe)
        #expect(verdict(error, Self.draft) == draft)
        #expect(verdict(error, .atLeastOnce) == atLeast)
        #expect(verdict(error, .atMostOnce) == atMost)
    }

    /// A status that refuses the request is not an execution.
    @Test func refusals() {
        for status in [307, 308, 400, 401, 408, 425, 429] { #expect(DeliveryRules.isRefusal(status)) }
        for status in [200, 202, 301, 302, 303, 409, 500, 502, 503, 504] {
            #expect(!DeliveryRules.isRefusal(status))
        }
        #expect(verdict(Self.error(429), .atMostOnce, mayHaveArrived: false) == "again")
    }

    /// A failure of the transport means another attempt, unless the entry must not arrive twice.
    @Test(
        arguments: [
            .resolve, .connect, .connectTimeout, .tls, .connectionLost, .emptyReply, .partialBody,
            .firstByteTimeout, .idleTimeout, .attemptTimeout, .totalTimeout, .invalidResponse, .queueTimeout,
            .circuitOpen, .unreachable, .resources,
        ] as [NetworkError.Code])
    func transportFailures(_ code: NetworkError.Code) {
        let error = NetworkError(code, "")
        for guarantee in [Self.stripe, Self.draft, .atLeastOnce] {
            #expect(verdict(error, guarantee) == "again")
        }
        #expect(verdict(error, .atMostOnce) == "uncertain")
        #expect(verdict(error, .atMostOnce, mayHaveArrived: false) == "again")
    }

    /// Failures that another attempt cannot change are final.
    @Test(
        arguments: [
            .invalidURL, .invalidHeader, .invalidParameters, .envelope, .decoding, .contentType, .tooLarge,
            .tooManyRedirects, .invalidRedirect, .forbiddenAddress,
        ] as [NetworkError.Code])
    func finalFailures(_ code: NetworkError.Code) {
        for guarantee in [Self.stripe, Self.draft, .atLeastOnce, .atMostOnce] {
            #expect(verdict(NetworkError(code, ""), guarantee) == "refused")
        }
    }

    /// A cancelled attempt is repeated where that is safe, and a login may come later.
    @Test func cancellationsAndLogins() {
        #expect(verdict(NetworkError(.cancelled, ""), Self.stripe) == "interrupted")
        #expect(verdict(NetworkError(.shutDown, ""), .atLeastOnce) == "interrupted")
        #expect(verdict(NetworkError(.cancelled, ""), .atMostOnce) == "uncertain")
        #expect(verdict(NetworkError(.loginExpired, ""), .atMostOnce) == "again")
        #expect(verdict(NetworkError(.retryLater, ""), .atMostOnce) == "again")
    }

    /// Retry-After is the minimum of the wait.
    @Test func retryAfter() {
        let verdict = DeliveryRules.verdict(
            on: Self.error(503, [.retryAfter: "7200"]), under: Self.stripe, mayHaveArrived: true,
            at: .distantPast)
        guard case .again(_, let minimum) = verdict else {
            Issue.record("no other attempt")
            return
        }
        #expect(minimum == .seconds(7200))
    }

    /// The waits of the schedule grow up to the longest, and jitter shortens them.
    @Test func waits() {
        let schedule = OutboxSchedule(first: .seconds(2), longest: .seconds(60), jitter: 0.5)
        let waits = (1...8).map { schedule.wait(after: $0, random: 0) / .seconds(1) }
        #expect(waits == [2, 4, 8, 16, 32, 60, 60, 60])
        #expect(schedule.wait(after: 1_000_000, random: 0) == .seconds(60))
        #expect(schedule.wait(after: 6, random: 0.5) == .seconds(45))
        let odd = OutboxSchedule(first: .zero, factor: .infinity, longest: .seconds(5), jitter: 7)
        #expect(odd.wait(after: 3, random: 0) == .seconds(5))
        #expect(odd.wait(after: 3, random: 0.99) > .zero)
    }

    /// A date of the outbox never goes back, and passes at least as fast as time does.
    @Test func steadyDate() {
        var steady = SteadyDate()
        let start = Date(timeIntervalSince1970: 1_000_000)
        #expect(steady.date(system: start, at: .zero) == start)
        #expect(steady.date(system: start - 5000, at: .seconds(10)) == start + 10)
        #expect(steady.date(system: start + 3600, at: .seconds(20)) == start + 3600)
        #expect(steady.date(system: start, at: .seconds(30)) == start + 3610)
        steady.raise(to: start + 9000, at: .seconds(40))
        #expect(steady.date(system: start, at: .seconds(41)) == start + 9001)
    }

    /// Keys are written as the rules want them.
    @Test func keys() {
        #expect(KeyRules.stripe.value(for: #"a"b\"#) == #"a"b\"#)
        #expect(KeyRules.draft(lifetime: .seconds(60)).value(for: #"a"b\"#) == #""a\"b\\""#)
        #expect(KeyRules.stripe.safeTime == .seconds(24 * 3600 - 60))
        #expect(KeyRules.draft(lifetime: .seconds(60)).safeTime == .seconds(54))
    }
}
#endif
