import RxTesting

/// The faults of one seed. Each seed uses some of the kinds only, at its own rates, because faults hide each other: a run
/// in which every request is reset never gets to a second page ("Swarm Testing", Groce et al., ISSTA 2012).
///
/// With another order or number of draws, each seed gives other faults: seeds that tests name no longer show what they
/// did.
struct FaultMix: Sendable {
    /// The kinds of places where faults strike.
    enum PlaceKind {
        case exchange, subscription, event, process, server, clock

        /// The faults that can strike there, which a given list is filtered by;
        /// ``FaultMix/faults(at:of:time:)`` draws them for a seed.
        var kinds: Set<Fault.Kind> {
            switch self {
            case .exchange: [.delay, .reset, .truncation, .status]
            case .subscription: [.cancel, .slowReader]
            case .event: [.event]
            case .process: [.restart]
            case .server: [.outage]
            case .clock: [.clockJump]
            }
        }
    }

    private let seed: UInt64
    private let limit: Duration
    private let rates: [Fault.Kind: Double]

    init(seed: UInt64, _ options: SimulationOptions) {
        self.seed = seed
        limit = options.faultTime
        var random = SeededRandom(seed.mixed(with: "mix"))
        var rates: [Fault.Kind: Double] = [:]
        for kind in Fault.Kind.allCases {
            let choices: [Double] = [0, 0, 0, 0.03, 0.1, 0.3]
            let rate = choices[Int.random(in: choices.indices, using: &random)]
            if options.faults.contains(kind), rate > 0 { rates[kind] = rate }
        }
        self.rates = rates
    }

    func faults(at place: String, of kind: PlaceKind, time: Duration) -> [Fault] {
        guard time < limit, !rates.isEmpty else { return [] }
        var random = SeededRandom(seed.mixed(with: place))
        var faults: [Fault] = []
        switch kind {
        case .exchange:
            if let fault = failure(time, &random) { faults.append(fault) }
            if strikes(.delay, &random) { faults.append(.requestDelay(duration(&random))) }
            if strikes(.delay, &random) { faults.append(.responseDelay(duration(&random))) }
        case .subscription:
            if strikes(.cancel, &random) { faults.append(.cancel(after: duration(&random))) }
            if strikes(.slowReader, &random) { faults.append(.slowReader(duration(&random, longest: 3000))) }
        case .event:
            if strikes(.event, &random) { faults.append(.event) }
        case .process:
            faults = list(.restart, &random) { .restart(at: moment(&$0)) }
        case .server:
            faults = list(.outage, &random) { .outage(at: moment(&$0), for: duration(&$0)) }
        case .clock:
            faults = list(.clockJump, &random) { random in
                let change = duration(&random, longest: 100_000_000)
                return .clockJump(
                    at: moment(&random), by: Bool.random(using: &random) ? change : .zero - change)
            }
        }
        return faults
    }

    /// A failure of an exchange; at most one.
    private func failure(_ time: Duration, _ random: inout SeededRandom) -> Fault? {
        // All are drawn, so that the choice between several is fair.
        let kinds = [Fault.Kind.reset, .truncation, .status].filter { strikes($0, &random) }
        switch kinds.randomElement(using: &random) {
        case .reset:
            let phases: [Fault.Phase] = [
                .beforeSending, .duringUpload, .beforeHead,
                .inBody(percent: .random(in: 0..<100, using: &random)),
                .open(for: duration(&random)),
            ]
            return phases.randomElement(using: &random).map { .reset($0) }
        case .truncation: return .truncation(percent: .random(in: 0..<100, using: &random))
        case .status:
            let code = [429, 500, 502, 503, 504].randomElement(using: &random) ?? 503
            let asksToWait = [429, 503].contains(code) && Bool.random(using: &random)
            return .status(code, retryAfter: asksToWait ? .random(in: 0...10, using: &random) : nil)
        default: return nil
        }
    }

    private func strikes(_ kind: Fault.Kind, _ random: inout SeededRandom) -> Bool {
        Double.random(in: 0..<1, using: &random) < rates[kind] ?? 0
    }

    /// Up to two faults that strike at a moment of the run.
    private func list(
        _ kind: Fault.Kind, _ random: inout SeededRandom, _ make: (inout SeededRandom) -> Fault
    ) -> [Fault] {
        guard rates[kind] != nil else { return [] }
        return (0..<Int.random(in: 0...2, using: &random)).map { _ in make(&random) }
    }

    /// From 1 ms to `longest`, short ones as often as long ones.
    private func duration(_ random: inout SeededRandom, longest: Int = 30_000) -> Duration {
        var ceiling = 10
        while ceiling < longest, Double.random(in: 0..<1, using: &random) < 0.7 { ceiling *= 10 }
        return .milliseconds(Int.random(in: 1...min(ceiling, longest), using: &random))
    }

    private func moment(_ random: inout SeededRandom) -> Duration {
        .milliseconds(Int.random(in: 0..<max(1, limit.milliseconds), using: &random))
    }
}

extension UInt64 {
    /// A number that follows from both (FNV-1a, then the finalizer of SplitMix64). With another one, each seed gives
    /// another run.
    func mixed(with text: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ self
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ hash >> 30) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ hash >> 27) &* 0x94D0_49BB_1331_11EB
        return hash ^ hash >> 31
    }
}
