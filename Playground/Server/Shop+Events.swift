import FlyingFox
import FoundationEssentials

/// A question for the shop's assistant, and the beginning of an answer that it continues.
private struct Question: Decodable {
    var prompt: String
    var prefix: String?
}

extension Shop {
    /// The words of an answer, without those that the question has, and `[DONE]` after the last one.
    func answer(to request: HTTPRequest) async throws -> HTTPResponse {
        let question = try await request.document(Question.self)
        let known = question.prefix ?? ""
        let words = "For \(question.prompt) take a spoon of leaves and wait four minutes."
            .split(separator: " ").map(String.init)
        guard words.joined(separator: " ").hasPrefix(known) else {
            throw Refusal.invalid("the prefix is not the beginning of this answer")
        }
        let rest = Array(words.dropFirst(known.split(separator: " ").count))
        let breakAfter = try request.number("breakAfter", or: 0, in: 0...1_000_000)
        let breaks = breakAfter > 0 && happens("answer", key: request.query["run"] ?? "")
        return .events(
            PacedEvents(
                interval: .milliseconds(10),
                event: { number in
                    if number > rest.count { return nil }
                    if number == rest.count { return "data: [DONE]\n\n" }
                    return "event: delta\ndata: {\"text\":\"\(rest[number])\"}\n\n"
                }, breaksAfter: breaks ? breakAfter : nil))
    }

    /// Changing prices of five goods, without an end.
    func prices(_ request: HTTPRequest) throws -> HTTPResponse {
        let interval = try request.number("every", or: 10, in: 1...60_000)
        return .events(
            PacedEvents(interval: .milliseconds(interval)) { number in
                let (goods, step) = (number % 5 + 1, number / 5 * 37 % 50)
                return
                    "id: \(number)\nevent: price\ndata: {\"goods\":\(goods),\"cents\":\(1000 * goods + step)}\n\n"
            })
    }
}

extension HTTPResponse {
    fileprivate static func events(_ events: PacedEvents) -> HTTPResponse {
        HTTPResponse(
            statusCode: .ok, headers: [.contentType: "text/event-stream"],
            body: HTTPBodySequence(from: events))
    }
}
