import Foundation
import RxNetworking

extension Driver {
    /// An event source: runs until it is closed, or the server ends it.
    func openEvents(_ command: Command) throws(CommandError) {
        let id = command.id
        var call = InlineEndpoint(.get, try url(of: command).absoluteString)
        call.options.headers = try headers(of: command)
        call.options.usesCookies = command.credentials != .omit
        let updates = client.events(call)
            .compactMap { EventAnswer(id, $0) }
            .catch { error in .just(EventAnswer(id, because: error)) }
            .setFailureType(to: NetworkError.self)
        try begin(
            command, updates, isEndless: true,
            onNext: { answer, operation in
                if answer.isLast { operation.end(with: answer) } else { operation.write(answer) }
            },
            onFinish: { operation in operation.end(with: EventAnswer(id, because: nil)) })
    }
}
