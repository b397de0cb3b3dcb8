#if Inspector
/// A command of a front end, and the messages that answer it: those of JSON-RPC 2.0 without its version, as
/// <https://chromedevtools.github.io/devtools-protocol/> describes.
struct Command {
    let id: Int
    let method: String
    let params: JSON
    /// The session of a nested target, which the reply names too.
    let sessionID: String?

    /// An error of JSON-RPC 2.0 §5.1.
    struct Failure: Error {
        let code: Int
        let message: String

        static func unknownMethod(_ method: String) -> Failure {
            Failure(code: -32601, message: "'\(method)' wasn't found")
        }
        static func invalidParameters(_ message: String) -> Failure {
            Failure(code: -32602, message: message)
        }
        static func refused(_ message: String) -> Failure { Failure(code: -32000, message: message) }
    }

    /// Reads a message. A message that is not a command is answered with the error.
    init(_ text: String) throws(Failure) {
        guard let message = JSON(parsing: text) else {
            throw Failure(code: -32700, message: "Message must be a valid JSON")
        }
        guard case .object = message else {
            throw Failure(code: -32600, message: "Message must be an object")
        }
        guard let id = message["id"]?.integer else {
            throw Failure(code: -32600, message: "Message must have integer 'id' property")
        }
        guard let method = message["method"]?.string else {
            throw Failure(code: -32600, message: "Message must have string 'method' property")
        }
        (self.id, self.method) = (id, method)
        params = message["params"] ?? [:]
        sessionID = message["sessionId"]?.string
    }

    /// The reply to the command.
    func reply(_ result: Result<JSON, Failure>) -> JSON {
        var reply: JSON = ["id": .integer(id)]
        if let sessionID { reply = reply.adding(("sessionId", .string(sessionID))) }
        switch result {
        case .success(let result): return reply.adding(("result", result))
        case .failure(let failure): return reply.adding(("error", failure.document))
        }
    }
}

extension Command.Failure {
    var document: JSON { ["code": .integer(code), "message": .string(message)] }
}
#endif
