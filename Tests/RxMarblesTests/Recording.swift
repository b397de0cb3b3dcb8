import FoundationEssentials

/// One recorded marble case.
struct Recording: Sendable, Decodable {
    let file: String
    let name: String
    let nodes: [Node]
    let functions: [Function]
    var expectations: [Expectation]
    var subscriptions: [Subscriptions]

    /// File and name, which together are unique except for a few repetitions.
    var title: String { "\(file) \(name)" }

    /// A stream: a source with its events, a creator with its arguments, or operators on another stream.
    enum Node: Sendable {
        case source(isHot: Bool, events: [Event])
        case created(String, [Value])
        case piped(source: Int, [Operation])
    }

    struct Operation: Sendable, Decodable {
        let op: String
        let args: [Value]
    }

    /// A lambda, as its recorded calls.
    struct Function: Sendable, Decodable {
        let calls: [Call]

        struct Call: Sendable {
            let arguments: [Value]
            let result: Result<Value, RecordedError>
        }
    }

    struct Event: Sendable, Equatable {
        let milliseconds: Double
        let kind: Kind

        enum Kind: Sendable, Equatable {
            case next(Value)
            case failed(Value)
            case finished
        }
    }

    /// The expected events for one subscriber.
    struct Expectation: Sendable, Decodable {
        let of: Value
        let subscription: Span?
        var events: [Event]

        struct Span: Sendable, Decodable {
            let sub: Double
            let unsub: Double?
        }
    }

    /// The expected subscriptions to a source.
    struct Subscriptions: Sendable, Decodable {
        let node: Int
        /// Each from and to, in milliseconds; `nil` if it does not end.
        var frames: [[Double?]]
    }

    private enum CodingKeys: String, CodingKey {
        case file, name, nodes
        case functions = "fns"
        case expectations = "expects"
        case subscriptions = "subs"
    }
}

extension Recording {
    /// The file of the recordings: the one that `RX_MARBLES` names, else `shared/data` beside the project.
    static var file: URL {
        if let path = ProcessInfo.processInfo.environment["RX_MARBLES"] { return URL(filePath: path) }
        let project = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return project.deletingLastPathComponent().appending(path: "shared/data/rx-marbles.jsonl")
    }

    static var exists: Bool { FileManager.default.isReadableFile(atPath: file.path) }

    /// All cases, in the order of the file.
    static func all() throws -> [Result<Recording, any Error>] { all(in: try Data(contentsOf: file)) }

    /// The cases of a text, one a line. An invalid one is an error of its own.
    static func all(in text: Data) -> [Result<Recording, any Error>] {
        let decoder = JSONDecoder()
        return text.split(separator: UInt8(ascii: "\n")).map { line in
            Result { try decoder.decode(Recording.self, from: line) }
        }
    }
}

extension Recording.Node: Decodable {
    private enum Key: CodingKey { case kind, events, fn, args, source, ops }

    init(from decoder: any Decoder) throws {
        let node = try decoder.container(keyedBy: Key.self)
        switch try node.decode(String.self, forKey: .kind) {
        case "hot", "cold":
            self = .source(
                isHot: try node.decode(String.self, forKey: .kind) == "hot",
                events: try node.decode([Recording.Event].self, forKey: .events))
        case "create":
            self = .created(
                try node.decode(String.self, forKey: .fn), try node.decode([Value].self, forKey: .args))
        case "pipe":
            self = .piped(
                source: try node.decode(Int.self, forKey: .source),
                try node.decode([Recording.Operation].self, forKey: .ops))
        case let kind:
            throw DecodingError.dataCorruptedError(
                forKey: .kind, in: node, debugDescription: "the kind \(kind) is unknown")
        }
    }
}

extension Recording.Function.Call: Decodable {
    private enum Key: CodingKey { case args, ret, `throws` }

    init(from decoder: any Decoder) throws {
        let call = try decoder.container(keyedBy: Key.self)
        arguments = try call.decode([Value].self, forKey: .args)
        result =
            call.contains(.ret)
            ? .success(try call.decode(Value.self, forKey: .ret))
            : .failure(RecordedError(try call.decode(Value.self, forKey: .throws)))
    }
}

extension Recording.Event: Decodable {
    private enum Key: String, CodingKey {
        case milliseconds = "t"
        case kind = "k"
        case value = "v"
        case error = "e"
    }

    init(from decoder: any Decoder) throws {
        let event = try decoder.container(keyedBy: Key.self)
        milliseconds = try event.decode(Double.self, forKey: .milliseconds)
        switch try event.decode(String.self, forKey: .kind) {
        case "N": kind = .next(try event.decode(Value.self, forKey: .value))
        case "E": kind = .failed(try event.decode(Value.self, forKey: .error))
        case "C": kind = .finished
        case let letter:
            throw DecodingError.dataCorruptedError(
                forKey: .kind, in: event, debugDescription: "the kind \(letter) is unknown")
        }
    }
}
