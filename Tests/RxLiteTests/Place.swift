import RxLite
import RxLoop
import RxTesting
import Testing

/// Where the streams of a test live.
enum Place: String, CaseIterable, CustomTestStringConvertible {
    case inline = "on whoever enters"
    case loop = "on an event loop"
    case virtual = "on a virtual scheduler"

    var testDescription: String { rawValue }

    /// Runs `body` with what makes streams live there, and keeps virtual time going meanwhile.
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

    /// Whether the caller is where the streams are. Without a scheduler, everybody is; and with a virtual one, which is
    /// current everywhere while its clock stands, and may be set going by another thread meanwhile.
    var isHere: Bool { scheduler is VirtualScheduler || scheduler?.isCurrent ?? true }

    /// The same stream, living here from its start on.
    func house<Element, Failure>(_ stream: Observable<Element, Failure>) -> Observable<Element, Failure> {
        guard let scheduler else { return stream }
        return stream.subscribe(on: scheduler)
    }
}

/// Waits for what another thread brings about.
func until(_ holds: () -> Bool) async {
    while !holds() { await Task.yield() }
}
