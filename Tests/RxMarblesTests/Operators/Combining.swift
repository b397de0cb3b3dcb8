import RxLite

/// What makes one stream of several.
enum Combining {
    @Sendable static func stream(_ use: Operator, _ source: Stream) throws -> Stream? {
        switch use.name {
        case "mergeWith":
            .merge([source] + use.inputs)
        case "concat", "concatWith":
            .concat([source] + use.inputs)
        case "onErrorResumeNext":
            resuming([source] + use.inputs)
        case "startWith":
            use.arguments.filter { $0 != .scheduler }.reversed().reduce(source) { $0.startWith($1) }
        case "endWith":
            .concat([source, .sequence(use.arguments.filter { $0 != .scheduler })])
        default:
            nil
        }
    }

    /// One after the other, whether or not those before fail.
    static func resuming(_ streams: [Stream]) -> Stream {
        .concat(streams.map { stream in stream.catch { _ in .empty() } })
    }
}
