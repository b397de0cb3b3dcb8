import FlyingFox

/// The assistant of the shop's chat: answers every message of a customer.
struct ChatRoom: WSMessageHandler {
    /// Whether to end the connection instead of answering, for the message with this number on a connection.
    let breaks: @Sendable (_ number: Int) -> Bool

    func makeMessages(for client: AsyncStream<WSMessage>) async throws -> AsyncStream<WSMessage> {
        AsyncStream { answers in
            let answering = Task {
                var number = 0
                for await case .text(let question) in client {
                    number += 1
                    // The end of the answers ends the connection, without a close frame.
                    if breaks(number) { break }
                    answers.yield(.text("\(question) Certainly."))
                }
                answers.finish()
            }
            answers.onTermination = { _ in answering.cancel() }
        }
    }
}
