extension HeldOutTests {
    private static let tooLate = Value.error(name: "TimeoutError", message: "Timeout has occurred")

    /// Operators with time.
    static let ofTime = [
        HeldOutCase(
            "observeOn with a delay", [.cold("-a-#"), .pipe(0, "observeOn", .scheduler, 2)],
            gives: "---a-#"),
        HeldOutCase(
            "subscribeOn with a delay", [.cold("-a-b|"), .pipe(0, "subscribeOn", .scheduler, 3)],
            gives: "----a-b|", subscriptions: [0: [[3, 7]]]),
        HeldOutCase("delay of an end", [.cold("--|"), .pipe(0, "delay", 3, .scheduler)], gives: "--|"),
        HeldOutCase("delay", [.hot("-a|"), .pipe(0, "delay", 2)], gives: "---(a|)"),
        HeldOutCase(
            "delay until a date", [.hot("-a---b-----c|"), .pipe(0, "delay", .date(5))],
            gives: "-----(ab)--c|"),
        HeldOutCase(
            "delayWhen with a begin",
            [
                .hot("-a--b--|"), .cold("---x"), .cold("--y|"),
                .pipe(0, "delayWhen", .function(0), .node(1)),
            ],
            [[.call("b", 0, gives: .node(2))]], gives: "------b|", subscriptions: [0: [[3, 7]]]),
        HeldOutCase(
            "timeout of the first and of each",
            [.hot("----a-b---c-|"), .pipe(0, "timeout", ["first": 5, "each": 2])], gives: "----a-b-#",
            error: tooLate),
        HeldOutCase(
            "timeout of the first, each limited too",
            [.hot("------a|"), .pipe(0, "timeout", ["first": 3, "each": 2])], gives: "---#",
            error: tooLate, subscriptions: [0: [[0, 3]]]),
        HeldOutCase(
            "timeout of each, with another stream",
            [
                .hot("-a-------b|"), .cold("-z|"),
                .pipe(0, "timeout", ["first": 2, "each": 5, "with": .function(0)]),
            ],
            [[.call(.opaque, gives: .node(1))]], gives: "-a-----z|", subscriptions: [0: [[0, 6]]]),
        HeldOutCase(
            "timeout at a date, in time", [.hot("--a------b|"), .pipe(0, "timeout", .date(4), .scheduler)],
            gives: "--a------b|"),
        HeldOutCase(
            "timeout at a date", [.hot("-----a|"), .pipe(0, "timeout", .date(4))], gives: "----#",
            error: tooLate),
        HeldOutCase(
            "timeoutWith at a date",
            [.hot("-----a|"), .cold("--z|"), .pipe(0, "timeoutWith", .date(3), .node(1), .scheduler)],
            gives: "-----z|"),
        HeldOutCase(
            "throttleTime", [.hot("-a-b--c----|"), .pipe(0, "throttleTime", 3, .scheduler)],
            gives: "-a----c----|"),
        HeldOutCase(
            "throttleTime, trailing",
            [
                .hot("-a-b--c----|"),
                .pipe(0, "throttleTime", 3, .scheduler, ["leading": false, "trailing": true]),
            ], gives: "----b--c---|"),
        HeldOutCase(
            "throttleTime, both",
            [
                .hot("-a-b--c----|"),
                .pipe(0, "throttleTime", 3, .undefined, ["leading": true, "trailing": true]),
            ], gives: "-a--b--c---|"),
        HeldOutCase(
            "sampleTime", [.hot("-a--b----|"), .pipe(0, "sampleTime", 3)], gives: "---a--b--|"),
        HeldOutCase(
            "auditTime with a scheduler", [.hot("-a-b---c-|"), .pipe(0, "auditTime", 3, .scheduler)],
            gives: "----b-----(c|)"),
        HeldOutCase(
            "bufferTime, overlapping", [.hot("-a-b-c-d-|"), .pipe(0, "bufferTime", 4, 2, .scheduler)],
            gives: "----x-y-z(wv|)",
            values: ["x": ["a", "b"], "y": ["b", "c"], "z": ["c", "d"], "w": ["d"], "v": []]),
        HeldOutCase(
            "bufferTime with a size", [.hot("-a-b-c-|"), .pipe(0, "bufferTime", 10, .null, 2, .scheduler)],
            gives: "---x---(y|)", values: ["x": ["a", "b"], "y": ["c"]]),
        HeldOutCase(
            "bufferTime, time alone", [.hot("-a-b-c-|"), .pipe(0, "bufferTime", 4)], gives: "----x--(y|)",
            values: ["x": ["a", "b"], "y": ["c"]]),
        HeldOutCase(
            "timer without a period", [.create("timer", 3, -1)], gives: "---(z|)", values: ["z": 0]),
        HeldOutCase("timer at a date", [.create("timer", .date(4))], gives: "----(z|)", values: ["z": 0]),
        HeldOutCase(
            "timer with a period", [.create("timer", 2, 3, .scheduler), .pipe(0, "take", 3)],
            gives: "--x--y--(z|)", values: ["x": 0, "y": 1, "z": 2]),
        HeldOutCase(
            "timer that is due", [.create("timer", -5)], gives: "(z|)", values: ["z": 0]),
        HeldOutCase(
            "interval", [.create("interval", 2, .scheduler), .pipe(0, "take", 2)], gives: "--x-(y|)",
            values: ["x": 0, "y": 1]),
        HeldOutCase(
            "timeInterval", [.cold("-a--b|"), .pipe(0, "timeInterval")], gives: "-x--y|",
            values: ["x": ["value": "a", "interval": 1], "y": ["value": "b", "interval": 3]]),
    ]
}
