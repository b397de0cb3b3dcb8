import RxLite
import RxLoop
import RxTesting
import Testing

/// The schedulers on which the streams of a test run.
enum Place: String, CaseIterable, CustomTestStringConvertible {
    case inline = "on whoever enters"
    case loop = "on an event loop"
    case virtual = "on a virtual scheduler"

    var testDescription: String { rawValue }

    /// Runs `body` with a function that moves streams there, and keeps virtual time running meanwhile.
    func run(_ body: @escaping @Sendable (Residence) async throws -> Void) async throws {
        switch self {
        case .inline:
            try await body(Residence(scheduler: nil))
        case .loop:
            let loop = EventLoop(name: "bridges")
            defer { loop.shutDown() }
            try await body(Residence(scheduler: loop))
        case .virtual:
            let clock = VirtualScheduler()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    while !Task.isCancelled {
                        try clock.run()
                        await Task.yield()
                    }
                }
                defer { group.cancelAll() }
                try await body(Residence(scheduler: clock))
            }
        }
    }
}

/// One scheduler, or none, and streams on it.
struct Residence: Sendable {
    let scheduler: (any Scheduler)?

    /// Whether the caller is on the streams' scheduler. Always true without a scheduler, and with a virtual
    /// one, which is current everywhere while its clock stands, and may be advanced by another thread
    /// meanwhile.
    var isHere: Bool { scheduler is VirtualScheduler || scheduler?.isCurrent ?? true }

    /// The same stream, running here from its start.
    func house<Element, Failure>(_ stream: Observable<Element, Failure>) -> Observable<Element, Failure> {
        guard let scheduler else { return stream }
        return stream.subscribe(on: scheduler)
    }
}

/// Waits for an effect of another thread.
nonisolated(nonsending) func until(_ holds: () -> Bool) async {
    // Most conditions hold soon. Later, waiting must not take the time of the code that is waited for.
    for _ in 0..<100 {
        if holds() { return }
        await Task.yield()
    }
    while !holds(), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
}
