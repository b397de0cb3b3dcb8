extension HeldOutTests {
    /// Windows that other streams open and close.
    static let ofWindows = [
        HeldOutCase(
            "throttle, both, windows that end without a value",
            [.hot("-a-b--c----|"), .cold("---|"), .pipe(0, "throttle", .function(0), ["trailing": true])],
            [[.call("a", gives: .node(1)), .call("c", gives: .node(1))]], gives: "-a----c----|",
            subscriptions: [1: [[1, 4], [6, 9]]]),
        HeldOutCase(
            "throttle, both",
            [.hot("-a-b--c----|"), .cold("---x"), .pipe(0, "throttle", .function(0), ["trailing": true])],
            [["a", "b", "c"].map { .call($0, gives: .node(1)) }], gives: "-a--b--c---|",
            subscriptions: [1: [[1, 4], [4, 7], [7, 10]]]),
        HeldOutCase(
            "throttle, trailing, the source ends first",
            [
                .hot("-a-b|"), .cold("-----x"),
                .pipe(0, "throttle", .function(0), ["leading": false, "trailing": true]),
            ],
            [[.call("a", gives: .node(1))]], gives: "------(b|)", subscriptions: [0: [[0, 4]], 1: [[1, 6]]]),
        HeldOutCase(
            "throttle, neither",
            [
                .hot("-a-b|"), .cold("-----x"),
                .pipe(0, "throttle", .function(0), ["leading": false, "trailing": false]),
            ],
            [[.call("a", gives: .node(1))]], gives: "----|", subscriptions: [1: [[1, 4]]]),
        HeldOutCase(
            "throttle with windows that end at once",
            [.hot("-a-b|"), .pipe(0, "throttle", .function(0), ["trailing": true])],
            [["a", "b"].map { .call($0, gives: .constant("EMPTY")) }], gives: "-a-b|"),
        HeldOutCase(
            "throttle, the lambda throws", [.hot("-a-b|"), .pipe(0, "throttle", .function(0))],
            [[.call("a", throws: "bad")]], gives: "-(a#)", error: "bad"),
        HeldOutCase(
            "audit with windows that end without a value",
            [
                .hot("-a--b---c--|"), .cold("--|"), .cold("--x"), .cold("-|"),
                .pipe(0, "audit", .function(0)),
            ],
            [
                [
                    .call("a", gives: .node(1)), .call("b", gives: .node(2)), .call("c", gives: .node(3)),
                ]
            ], gives: "------b----|"),
        HeldOutCase(
            "debounce with a window that ends without a value",
            [.hot("-a---b-|"), .cold("-|"), .cold("----x"), .pipe(0, "debounce", .function(0))],
            [[.call("a", gives: .node(1)), .call("b", gives: .node(2))]], gives: "-------(b|)"),
        HeldOutCase(
            "bufferWhen",
            [.hot("-a-b--c-|"), .cold("---x"), .pipe(0, "bufferWhen", .function(0))],
            [Array(repeating: .call(gives: .node(1)), count: 3)], gives: "---x--y-(z|)",
            values: ["x": ["a", "b"], "y": ["c"], "z": []]),
        HeldOutCase(
            "bufferToggle, overlapping",
            [
                .hot("-a-b-c-d-|"), .cold("--x-y--|"), .cold("----z"),
                .pipe(0, "bufferToggle", .node(1), .function(0)),
            ],
            [[.call("x", gives: .node(2)), .call("y", gives: .node(2))]], gives: "------x-y|",
            values: ["x": ["b", "c"], "y": ["c", "d"]], subscriptions: [2: [[2, 6], [4, 8]]]),
        HeldOutCase(
            "bufferToggle, open at the end",
            [
                .hot("-a-b-|"), .cold("--x|"), .cold("---------z"),
                .pipe(0, "bufferToggle", .node(1), .function(0)),
            ],
            [[.call("x", gives: .node(2))]], gives: "-----(y|)", values: ["y": ["b"]],
            subscriptions: [2: [[2, 5]]]),
        HeldOutCase(
            "bufferToggle, the source fails",
            [.hot("-a-#"), .cold("------x|"), .pipe(0, "bufferToggle", .node(1), .function(0))],
            [[]], gives: "---#", subscriptions: [1: [[0, 3]]]),
        HeldOutCase(
            "buffer whose notifier fails", [.hot("-a---|"), .hot("---#"), .pipe(0, "buffer", .node(1))],
            gives: "---#", subscriptions: [0: [[0, 3]]]),
    ]
}
