extension HeldOutTests {
    /// Operators that transform, select and collect values.
    static let ofValues = [
        HeldOutCase(
            "bufferCount, overlapping", [.hot("-a-b-c-d-|"), .pipe(0, "bufferCount", 3, 1)],
            gives: "-----x-y-(zw|)",
            values: ["x": ["a", "b", "c"], "y": ["b", "c", "d"], "z": ["c", "d"], "w": ["d"]]),
        HeldOutCase(
            "bufferCount, skipping", [.hot("-a-b-c-d-e-|"), .pipe(0, "bufferCount", 2, 3)],
            gives: "---x-----y-|", values: ["x": ["a", "b"], "y": ["d", "e"]]),
        HeldOutCase(
            "bufferCount, null", [.hot("-a-b-c|"), .pipe(0, "bufferCount", 2, .null)],
            gives: "---x--(y|)", values: ["x": ["a", "b"], "y": ["c"]]),
        HeldOutCase(
            "pluck with a path",
            [
                .hot("-x-y-z|", ["x": ["a": ["b": 1]], "y": ["a": [:]], "z": "text"]),
                .pipe(0, "pluck", "a", "b"),
            ],
            gives: "-x-y-z|", values: ["x": 1, "y": .undefined, "z": .undefined]),
        HeldOutCase(
            "pluck out of an array", [.hot("-x|", ["x": ["a": [5, 6]]]), .pipe(0, "pluck", "a", 1)],
            gives: "-x|", values: ["x": 6]),
        HeldOutCase(
            "scan without a seed", [.hot("-a-b-c|"), .pipe(0, "scan", .function(0))],
            [[.call("a", "b", 1, gives: "x"), .call("x", "c", 2, gives: "y")]], gives: "-a-x-y|"),
        HeldOutCase(
            "reduce from undefined", [.hot("-a-b|"), .pipe(0, "reduce", .function(0), .undefined)],
            [[.call(.undefined, "a", 0, gives: "x"), .call("x", "b", 1, gives: "y")]], gives: "----(y|)"
        ),
        HeldOutCase(
            "distinct with a key and flushes",
            [.hot("-a-b-c-d-|"), .hot("----x-"), .pipe(0, "distinct", .function(0), .node(1))],
            [["a", "b", "c", "d"].map { .call($0, gives: 1) }], gives: "-a---c---|"),
        HeldOutCase(
            "distinctUntilChanged with a key only",
            [.hot("-a-b-c|"), .pipe(0, "distinctUntilChanged", .undefined, .function(0))],
            [[.call("a", gives: 1), .call("b", gives: 1), .call("c", gives: 2)]], gives: "-a---c|"),
        HeldOutCase(
            "takeWhile, inclusive", [.hot("-a-b-c|"), .pipe(0, "takeWhile", .function(0), true)],
            [[.call("a", 0, gives: true), .call("b", 1, gives: false)]], gives: "-a-(b|)",
            subscriptions: [0: [[0, 3]]]),
        HeldOutCase(
            "first of none", [.cold("--|"), .pipe(0, "first", .null, "x")], gives: "--(x|)"),
        HeldOutCase(
            "last with a condition and a default",
            [.hot("-a-b|"), .pipe(0, "last", .function(0), "z")],
            [[.call("a", 0, gives: false), .call("b", 1, gives: false)]], gives: "----(z|)"),
        HeldOutCase(
            "elementAt with a default", [.hot("-a-b|"), .pipe(0, "elementAt", 5, "d")], gives: "----(d|)"),
        HeldOutCase(
            "elementAt out of range", [.hot("-a|"), .pipe(0, "elementAt", 1)], gives: "--#",
            error: .error(name: "ArgumentOutOfRangeError", message: "argument out of range")),
        HeldOutCase(
            "single without a match", [.hot("-a|"), .pipe(0, "single", .function(0))],
            [[.call("a", 0, gives: false)]], gives: "--#",
            error: .error(name: "NotFoundError", message: "No matching values")),
        HeldOutCase(
            "findIndex with a receiver", [.hot("-a-b|"), .pipe(0, "findIndex", .function(0), ["x": 1])],
            [[.call("a", 0, gives: false), .call("b", 1, gives: true)]], gives: "---(i|)",
            values: ["i": 1]),
        HeldOutCase(
            "take as many as a text says", [.hot("-a-b|"), .pipe(0, "take", "1")], gives: "-(a|)"),
        HeldOutCase(
            "max of numbers and texts", [.hot("-x-y-z|", ["x": 2, "y": "10", "z": 3]), .pipe(0, "max")],
            gives: "------(y|)", values: ["y": "10"]),
        HeldOutCase(
            "sequenceEqual, values left over",
            [.hot("-----|"), .hot("-a-------b|"), .pipe(0, "sequenceEqual", .node(1))],
            gives: "---------(f|)", values: ["f": false]),
        HeldOutCase(
            "sequenceEqual by the value that comes and the one that waits",
            [.hot("-a---|"), .hot("---b-|"), .pipe(0, "sequenceEqual", .node(1), .function(0))],
            [[.call("b", "a", gives: true)]], gives: "-----(t|)", values: ["t": true]),
        HeldOutCase(
            "dematerialize",
            [
                .hot("-x-y-z", ["x": ["kind": "N", "value": "a"], "y": ["kind": "E", "error": "bad"]]),
                .pipe(0, "dematerialize"),
            ], gives: "-a-#", error: "bad"),
        HeldOutCase(
            "tap with three lambdas",
            [.cold("-a#"), .pipe(0, "tap", .null, .function(0), .function(1))],
            [[.call("error", gives: .undefined)], []], gives: "-a#"),
        HeldOutCase(
            "tap with an observer",
            [
                .cold("-a|"),
                .pipe(
                    0, "tap",
                    ["subscribe": .function(0), "complete": .function(1), "finalize": .function(2)]),
            ],
            Array(repeating: [.call(gives: .undefined)], count: 3), gives: "-a|"),
    ]
}
