import RxNetworking

extension Recipe {
    static let answerThroughBreak = Recipe(
        "An answer that survives a broken connection",
        "The words of an answer arrive as events of a POST. The connection breaks half-way; the next request continues."
    ) { stage in
        let client = Client.shop(stage.baseURL, named: "answers")
        let query: Parameters.Values = ["breakAfter": 4, "run": "\(ContinuousClock.now)"]
        // Code
        struct Delta: Decodable { let text: String }
        struct Answer: Endpoint {
            typealias Output = Void
            let prompt: String
            var prefix = ""
            let query: Parameters.Values
            let path = "/answers"
            let method = HTTPRequest.Method.post
            var parameters: Parameters {
                Parameters.json(["prompt": prompt, "prefix": prefix]).query(query)
            }
        }

        let delta = EventDecoder<Delta>.json
        let answer = client.events(
            Answer(prompt: "green tea", query: query), until: { $0.data == "[DONE]" },
            resumption: .next { received in
                let words = received.items.compactMap { try? delta.decode($0).text }
                return Answer(prompt: "green tea", prefix: words.joined(separator: " "), query: query)
            },
            backoff: .constant(.milliseconds(100)))
        // Shown
        let noted = answer.handleEvents(onNext: { update in
            guard case .reconnecting(let delay, _) = update else { return }
            stage.note("connecting again in \(delay)")
        })
        let before = try await client.statistics().value().count("POST /answers")
        let (words, error) = await stage.play(noted.messages(of: Delta.self, named: "delta").map(\.text))
        let requests = try await client.statistics().value().count("POST /answers") - before
        stage.expect(error == nil, "the answer ends well")
        stage.expect(
            words.joined(separator: " ") == "For green tea take a spoon of leaves and wait four minutes.",
            "every word arrives once: \(words)")
        stage.expect(requests == 2, "there are two requests, not \(requests)")
        stage.result("\(words.count) words over \(requests) connections")
    }
}
