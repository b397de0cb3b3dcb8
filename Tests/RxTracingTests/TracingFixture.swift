#if Tracing
import Foundation
import HTTPTypes
import InMemoryTracing
import RxClient
import RxHTTP
import RxLite
import RxTesting
import RxTracing
import Testing
import Tracing

/// A traced client in virtual time.
struct TracingFixture {
    let clock = VirtualScheduler(startingAt: Date(timeIntervalSince1970: 1_000_000))
    /// A scheduler with a clock of its own.
    let elsewhere = VirtualScheduler()
    let tracer = InMemoryTracer()
    let transport: ScriptedTransport
    let client: Client

    init(
        _ rules: [ScriptedTransport.Rule],
        _ configure: (inout ClientConfiguration) -> Void = { _ in }
    ) {
        transport = ScriptedTransport(on: clock, rules)
        var configuration = ClientConfiguration(baseURL: "https://shop.test/v1")
        configuration.options.retry = .exponentialBackoff(backoff: .constant(.milliseconds(50)))
        configure(&configuration)
        client = Client(configuration: configuration, transport: transport)
        client.traceCalls(with: tracer)
    }

    /// The ended spans of calls, in the order of their ends.
    var calls: [FinishedInMemorySpan] { tracer.finishedSpans.filter { $0.kind == .internal } }
    /// The ended spans of exchanges, in the order of their ends.
    var exchanges: [FinishedInMemorySpan] { tracer.finishedSpans.filter { $0.kind == .client } }
    /// The number of spans that have not ended.
    var openCount: Int { tracer.activeSpans.count }

    /// Runs `body` in a span, and returns that span.
    func inSpan(_ body: () throws -> Void) rethrows -> InMemorySpan {
        let span = tracer.startSpan("outer", context: .topLevel)
        try ServiceContext.withValue(span.context) { try body() }
        return span
    }
}

extension FinishedInMemorySpan {
    /// An attribute as text.
    subscript(_ name: String) -> String? {
        switch attributes.get(name) {
        case .string(let text): text
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        case let other: other.map { "\($0)" }
        }
    }

    /// The milliseconds from the begin to the end.
    var milliseconds: Int {
        Int((endInstant.nanosecondsSinceEpoch - startInstant.nanosecondsSinceEpoch + 500_000) / 1_000_000)
    }

    /// Everything that a backend would show.
    var everything: String {
        var text = "\(operationName) \(status.map { "\($0)" } ?? "")"
        attributes.forEach { text += " \($0)=\($1)" }
        for event in events {
            text += " \(event.name)"
            event.attributes.forEach { text += " \($0)=\($1)" }
        }
        for error in errors {
            text += " \(error.error)"
            dump(error.error, to: &text)
        }
        return text
    }
}
#endif
