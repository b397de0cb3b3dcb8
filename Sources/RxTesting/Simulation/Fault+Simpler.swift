extension Fault {
    /// The same fault with rounder numbers, the roundest first, for the search for the simplest failure.
    var simpler: [Fault] {
        switch self {
        case .requestDelay(let delay): delay.rounder.map { .requestDelay($0) }
        case .responseDelay(let delay): delay.rounder.map { .responseDelay($0) }
        case .reset(.inBody(let percent)): Self.rounder(percent).map { .reset(.inBody(percent: $0)) }
        case .reset(.open(let time)): time.rounder.map { .reset(.open(for: $0)) }
        case .truncation(let percent): Self.rounder(percent).map { .truncation(percent: $0) }
        case .status(let code, _?): [.status(code)]
        case .clockJump(let time, let change):
            change.rounder.map { .clockJump(at: time, by: $0) }
                + time.rounder.map { .clockJump(at: $0, by: change) }
        case .outage(let time, let length):
            length.rounder.map { .outage(at: time, for: $0) }
                + time.rounder.map { .outage(at: $0, for: length) }
        case .restart(let time): time.rounder.map { .restart(at: $0) }
        case .cancel(let delay): delay.rounder.map { .cancel(after: $0) }
        case .slowReader(let pause): pause.rounder.map { .slowReader($0) }
        case .reset, .status, .event: []
        }
    }

    private static func rounder(_ percent: Int) -> [Int] {
        if percent == 0 { return [] }
        return percent == 50 ? [0] : [0, 50]
    }
}

extension Duration {
    /// The duration in whole units of ten seconds, seconds, tenths and hundredths, as far as these differ from it.
    fileprivate var rounder: [Duration] {
        let count = milliseconds
        var values: [Int] = []
        for unit in [10_000, 1000, 100, 10] {
            for value in [count / unit * unit, (count / unit + 1) * unit]
            where value != 0 && count % unit != 0 && !values.contains(value) {
                values.append(value)
            }
        }
        return values.map { .milliseconds($0) }
    }
}
