import FoundationEssentials
public import HTTPTypes
import RxHTTP
import Synchronization

extension ScriptedTransport {
    /// A rule that selects requests and their responses.
    public struct Rule: Sendable {
        let method: HTTPRequest.Method?
        let path: String
        let replies: [Reply]

        /// Responds to requests of `method` to `path`: to the first with the first of `replies`, and so on;
        /// the last reply repeats. Without `replies` it never responds.
        ///
        /// - Parameters:
        ///   - method: the method; `nil` matches all.
        ///   - path: the path of the URL without query, including a trailing slash; or, if it begins with
        ///     `http`, scheme, host, port and path. A `*` at its end matches any text that follows.
        ///   - replies: the replies, in order. Without any, requests wait for ever.
        public static func when(
            _ method: HTTPRequest.Method?, _ path: String, _ replies: Reply...
        ) -> Rule {
            Rule(method: method, path: path, replies: replies.isEmpty ? [.stall] : replies)
        }

        func matches(_ request: Request) -> Bool {
            if let method, method != request.method { return false }
            let target = path.hasPrefix("http") ? request.url.originAndPath : request.url.wholePath
            return path.hasSuffix("*") ? target.hasPrefix(path.dropLast()) : target == path
        }
    }
}

/// Rules, and how often each has responded.
final class RuleBook: Sendable {
    private let rules: [ScriptedTransport.Rule]
    private let counts: Mutex<[Int]>

    init(_ rules: [ScriptedTransport.Rule]) {
        self.rules = rules
        counts = Mutex(Array(repeating: 0, count: rules.count))
    }

    func reply(to request: Request) -> ScriptedTransport.Reply {
        guard let index = rules.firstIndex(where: { $0.matches(request) }) else {
            let asked = "\(request.method.rawValue) \(request.url.originAndPath)"
            return .failure(.unscripted, "no rule of the scripted transport matches \(asked)")
        }
        let turn = counts.withLock { counts in
            defer { counts[index] += 1 }
            return counts[index]
        }
        let replies = rules[index].replies
        return replies[min(turn, replies.count - 1)]
    }
}

extension URL {
    fileprivate var originAndPath: String {
        "\(scheme ?? "")://\(host() ?? "")" + (port.map { ":\($0)" } ?? "") + wholePath
    }

    /// The path without escapes, including a trailing slash, which `path` omits.
    fileprivate var wholePath: String { path(percentEncoded: false) }
}
