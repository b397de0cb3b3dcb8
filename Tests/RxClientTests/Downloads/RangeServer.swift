import HTTPTypes
import RxHTTP
import RxTesting
import Synchronization

/// A file on a scripted server, which responds to ranges by RFC 9110 and can break connections.
final class RangeServer: Sendable {
    struct State: Sendable {
        var content: [UInt8]
        var fields: HTTPFields = [.eTag: "\"v1\""]
        /// The number of bytes of each body before the connection breaks; later bodies are complete.
        var breaks: [Int] = []
        var ignoresRange = false
        /// The maximum size of a part.
        var slice = 1 << 30
        /// Replaces the next responses to requests for a part.
        var lies: [ScriptedTransport.Reply] = []
        var pieceSize = 7
        /// The time for each piece.
        var pace = Duration.milliseconds(1)
    }

    let state: Mutex<State>

    init(_ content: [UInt8]) { state = Mutex(State(content: content)) }

    func answer(_ request: Request) -> ScriptedTransport.Reply {
        state.withLock { state in
            var fields = state.fields
            let tag = fields[.eTag] ?? fields[.lastModified]
            let isSame = request.headerFields[.ifRange] == nil || request.headerFields[.ifRange] == tag
            guard let offset = Self.offset(request.headerFields[.range]), isSame, !state.ignoresRange else {
                fields[.contentLength] = "\(state.content.count)"
                return Self.body(state.content[...], status: .ok, fields, &state)
            }
            if !state.lies.isEmpty { return state.lies.removeFirst() }
            guard offset < state.content.count else {
                fields[.contentRange] = "bytes */\(state.content.count)"
                return .bytes(Array("no".utf8), status: .rangeNotSatisfiable, headers: fields)
            }
            let end = min(state.content.count, offset + state.slice)
            fields[.contentRange] = "bytes \(offset)-\(end - 1)/\(state.content.count)"
            return Self.body(state.content[offset..<end], status: .partialContent, fields, &state)
        }
    }

    private static func body(
        _ bytes: ArraySlice<UInt8>, status: HTTPResponse.Status, _ fields: HTTPFields, _ state: inout State
    ) -> ScriptedTransport.Reply {
        let cut = state.breaks.isEmpty ? Int.max : state.breaks.removeFirst()
        var steps: [ScriptedTransport.Step] = [.head(ResponseHead(status: status, headerFields: fields))]
        var rest = bytes.prefix(cut)
        while !rest.isEmpty {
            steps += [.wait(state.pace), .chunk(Array(rest.prefix(state.pieceSize)))]
            rest = rest.dropFirst(state.pieceSize)
        }
        let isCut = cut < bytes.count
        return .init(steps + [isCut ? .fail(NetworkError(.partialBody, "cut")) : .finish])
    }

    private static func offset(_ range: String?) -> Int? {
        guard let range, range.hasPrefix("bytes="), range.hasSuffix("-") else { return nil }
        return Int(range.dropFirst(6).dropLast())
    }
}
