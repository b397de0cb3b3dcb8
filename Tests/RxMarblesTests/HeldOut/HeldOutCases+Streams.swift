extension HeldOutTests {
    /// Streams that start, join and repeat streams.
    static let ofStreams = [
        HeldOutCase(
            "expand, one at a time", [.cold("(ab|)"), .cold("--c|"), .pipe(0, "expand", .function(0), 1)],
            [
                [
                    .call("a", 0, gives: .node(1)), .call("b", 1, gives: .constant("EMPTY")),
                    .call("c", 2, gives: .constant("EMPTY")),
                ]
            ], gives: "a--(bc|)"),
        HeldOutCase(
            "mergeMap with a combining lambda",
            [.hot("-a-|"), .cold("-x-y|"), .pipe(0, "mergeMap", .function(0), .function(1))],
            [
                [.call("a", 0, gives: .node(1))],
                [.call("a", "x", 0, 0, gives: "p"), .call("a", "y", 0, 1, gives: "q")],
            ], gives: "--p-q|"),
        HeldOutCase(
            "mergeMap with a combining lambda and a limit",
            [.hot("-ab|"), .cold("--x|"), .pipe(0, "mergeMap", .function(0), .null, 1)],
            [[.call("a", 0, gives: .node(1)), .call("b", 1, gives: .node(1))]], gives: "---x--x|",
            subscriptions: [1: [[1, 4], [4, 7]]]),
        HeldOutCase(
            "switchMapTo with a combining lambda",
            [.hot("-a-b|"), .cold("-x-y|"), .pipe(0, "switchMapTo", .node(1), .function(0))],
            [
                [
                    .call("a", "x", 0, 0, gives: "p"), .call("b", "x", 1, 0, gives: "q"),
                    .call("b", "y", 1, 1, gives: "r"),
                ]
            ], gives: "--p-q-r|"),
        HeldOutCase(
            "mergeScan, one at a time",
            [.hot("-ab|"), .cold("--x|"), .pipe(0, "mergeScan", .function(0), "s", 1)],
            [[.call("s", "a", 0, gives: .node(1)), .call("x", "b", 1, gives: .node(1))]],
            gives: "---x--x|"),
        HeldOutCase(
            "merge, one at a time",
            [.cold("-a|"), .cold("-b|"), .create("merge", .node(0), .node(1), 1, .scheduler)],
            gives: "-a-b|"),
        HeldOutCase(
            "merge as an operator, one at a time",
            [.cold("-a|"), .cold("-b|"), .pipe(0, "merge", .node(1), 1)], gives: "-a-b|"),
        HeldOutCase(
            "zip of an array, combined",
            [.cold("-a|"), .cold("--b|"), .create("zip", [.node(0), .node(1)], .function(0))],
            [[.call("a", "b", gives: "c")]], gives: "--(c|)"),
        HeldOutCase(
            "combineLatest of an array, combined",
            [.cold("-a|"), .cold("--b|"), .create("combineLatest", [.node(0), .node(1)], .function(0))],
            [[.call("a", "b", gives: "c")]], gives: "--c|"),
        HeldOutCase(
            "forkJoin of an array, combined",
            [.cold("--a|"), .cold("-b--|"), .create("forkJoin", [.node(0), .node(1)], .function(0))],
            [[.call("a", "b", gives: "c")]], gives: "----(c|)"),
        HeldOutCase(
            "concat of arrays", [.cold("-a|"), .create("concat", ["x"], .node(0), ["y", "z"])],
            gives: "xa(yz|)"),
        HeldOutCase(
            "startWith several", [.cold("(a|)"), .pipe(0, "startWith", "x", "y", .scheduler)],
            gives: "(xya|)"),
        HeldOutCase("range downwards", [.create("range", 5, -1)], gives: "|"),
        HeldOutCase(
            "range", [.create("range", 2, 3, .scheduler)], gives: "(abc|)",
            values: ["a": 2, "b": 3, "c": 4]),
        HeldOutCase(
            "generate with a scheduler",
            [.create("generate", 1, .function(0), .function(1), .scheduler)],
            [
                [.call(1, gives: true), .call(2, gives: false)], [.call(1, gives: 2)],
            ], gives: "(x|)", values: ["x": 1]),
        HeldOutCase(
            "a lambda does not return a stream", [.hot("-a|"), .pipe(0, "mergeMap", .function(0))],
            [[.call("a", 0, gives: 7)]], gives: "-#", error: RecordedError.noStream(7).value),
        HeldOutCase(
            "retry with a count and a delay", [.cold("-a#"), .pipe(0, "retry", ["count": 1, "delay": 2])],
            gives: "-a---a#", subscriptions: [0: [[0, 2], [4, 6]]]),
        HeldOutCase(
            "retry with a notifier that ends",
            [.cold("-a#"), .pipe(0, "retry", ["delay": .function(0)])],
            [[.call("error", 1, gives: .constant("EMPTY"))]], gives: "-a|"),
        HeldOutCase(
            "retry with a count and notifiers",
            [
                .cold("-a#"), .cold("-x"), .cold("--x|"),
                .pipe(0, "retry", ["count": 2, "delay": .function(0)]),
            ],
            [[.call("error", 1, gives: .node(1)), .call("error", 2, gives: .node(2))]],
            gives: "-a--a---a#"),
        HeldOutCase(
            "retry that resets its count",
            [.cold("-a#"), .pipe(0, "retry", ["count": 1, "resetOnSuccess": true])],
            gives: "-a-a-a", until: 6, subscriptions: [0: [[0, 2], [2, 4], [4, 6]]]),
        HeldOutCase(
            "repeat with a count and a delay", [.cold("-a|"), .pipe(0, "repeat", ["count": 2, "delay": 3])],
            gives: "-a----a|"),
        HeldOutCase(
            "repeat with notifiers, of which one ends",
            [.cold("-a|"), .cold("-x"), .pipe(0, "repeat", ["delay": .function(0)])],
            [[.call(1, gives: .node(1)), .call(2, gives: .constant("EMPTY"))]], gives: "-a--a|",
            subscriptions: [1: [[2, 3]]]),
        HeldOutCase(
            "repeatWhen, the notices end during a run",
            [.cold("-a-|"), .hot("-----x|"), .pipe(0, "repeatWhen", .function(0))],
            [[.call(.opaque, gives: .node(1))]], gives: "-a----a-|", subscriptions: [0: [[0, 3], [5, 8]]]),
        HeldOutCase(
            "share that starts over after a notice",
            [
                .cold("-a|"), .cold("--x"), .pipe(0, "share", ["resetOnComplete": .function(0)]),
                .pipe(2, "repeat", ["count": 2, "delay": 3]),
            ],
            [[.call(gives: .node(1)), .call(gives: .node(1))]], gives: "-a----a|",
            subscriptions: [0: [[0, 2], [5, 7]], 1: [[2, 4], [7, 9]]]),
        HeldOutCase(
            "share that is joined before the notice",
            [
                .cold("-a|"), .cold("--x"), .pipe(0, "share", ["resetOnComplete": .function(0)]),
                .pipe(2, "repeat", ["count": 2, "delay": 1]),
            ],
            [[.call(gives: .node(1))]], gives: "-a-|", subscriptions: [0: [[0, 2]], 1: [[2, 4]]]),
        HeldOutCase(
            "shareReplay by options",
            [.cold("-a|"), .pipe(0, "shareReplay", ["bufferSize": 1, "windowTime": .number(.infinity)])],
            gives: "-a|"),
    ]
}
