import Foundation
import RxNetworking

/// Carries out commands.
struct Driver: Sendable {
    let client: Client
    /// The proxy for fetches, if any.
    let cache: ResponseCache?
    let output: Output
    let operations: Operations

    init(client: Client, cache: ResponseCache?, output: Output) {
        self.client = client
        self.cache = cache
        self.output = output
        operations = Operations(output: output)
    }

    /// One line of input.
    func perform(_ line: String) {
        let data = Data(line.utf8)
        do {
            perform(try JSONDecoder().decode(Command.self, from: data))
        } catch {
            let id = (try? JSONDecoder().decode(Command.Identified.self, from: data))?.id
            output.write(ErrorAnswer(id, "invalidCommand", Self.problem(error)))
        }
    }

    private func perform(_ command: Command) {
        do throws(CommandError) {
            switch command.op {
            case .fetch: try fetch(command)
            case .pages: try pages(command)
            case .openEvents: try openEvents(command)
            case .cancel:
                let answer = ErrorAnswer(command.id, "cancelled", "cancelled by a command")
                operations.cancel(command.id, with: answer)
            case .closeEvents: operations.cancel(command.id, with: nil as ErrorAnswer?)
            }
        } catch {
            output.write(ErrorAnswer(command.id, error.code, error.message))
        }
    }

    /// Starts an operation, which ends with the failure of `stream` if not before.
    func begin<T>(
        _ command: Command, _ stream: Observable<T, NetworkError>, isEndless: Bool = false,
        onNext: @escaping @Sendable (T, Operations.Handle) -> Void,
        onFinish: @escaping @Sendable (Operations.Handle) -> Void = { _ in }
    ) throws(CommandError) {
        let id = command.id
        let isNew = operations.begin(id, isEndless: isEndless) { operation in
            stream.subscribe(
                onNext: { onNext($0, operation) },
                onFailure: { operation.end(with: ErrorAnswer(id, $0)) },
                onFinish: { onFinish(operation) })
        }
        guard isNew else { throw CommandError("an operation of this id has not ended") }
    }

    /// The URL, which the command must have.
    func url(of command: Command) throws(CommandError) -> URL {
        // An invalid character would make `URL(string:)` escape valid escapes again.
        guard let text = command.url,
            let url = URL(string: text, encodingInvalidCharacters: false)
                ?? URL(string: Self.escaping(text), encodingInvalidCharacters: false)
        else {
            throw CommandError("invalidURL", "there must be a url")
        }
        return url
    }

    /// Escapes each character that a URL must not contain (RFC 3986 §2), and leaves escapes as they are.
    private static func escaping(_ text: String) -> String {
        let legal = Set("-._~:/?#[]@!$&'()*+,;=%".utf8)
        return text.utf8.map { byte in
            let isLegal =
                legal.contains(byte) || UnicodeScalar(byte).properties.isAlphabetic && byte < 0x80
                || (0x30...0x39).contains(byte)
            return isLegal ? String(UnicodeScalar(byte)) : "%" + String(byte, radix: 16, uppercase: true)
        }.joined()
    }

    private static func problem(_ error: any Error) -> String {
        guard let error = error as? DecodingError else { return "\(error)" }
        switch error {
        case .dataCorrupted(let context), .typeMismatch(_, let context), .valueNotFound(_, let context):
            return context.debugDescription
        case .keyNotFound(let key, _): return "\(key.stringValue) is missing"
        @unknown default: return "\(error)"
        }
    }
}

/// A command that cannot be started.
struct CommandError: Error {
    let code: String
    let message: String

    init(_ message: String) { self.init("invalidCommand", message) }

    init(_ code: String, _ message: String) {
        self.code = code
        self.message = message
    }
}
