import RxNetworking

extension Recipe {
    static let chatThroughBreak = Recipe(
        "A chat that survives a broken connection",
        "The server breaks the WebSocket instead of answering the third question; it is asked again on the next one."
    ) { stage in
        let questions = ["Tea?", "With milk?", "Sugar?"]
        let client = Client.shop(stage.baseURL, named: "chat")
        let run = "\(ContinuousClock.now)"
        // Code
        let asked = MutableProperty(questions[0])
        let sink = WebSocketSink()
        var settings = WebSocketSettings()
        settings.reconnection = .always(.constant(.milliseconds(100))) { _ in [.text(asked.value)] }
        let chat = client.webSocket(
            "/chat", query: ["breakAt": 3, "run": run], sending: sink, settings: settings)
        var answers: [String] = []
        sink.send(questions[0]).subscribe()
        for try await event in chat {
            if case .reconnecting(let delay, _) = event { stage.note("connecting again in \(delay)") }
            guard case .text(let answer) = event else { continue }
            stage.note(answer)
            answers.append(answer)
            guard answers.count < questions.count else { break }
            // A break between these lines asks the question twice, on the new connection; after them, once.
            asked.value = questions[answers.count]
            try await sink.send(asked.value).value()
        }
        // Shown
        stage.expect(
            answers == questions.map { "\($0) Certainly." }, "each question is answered once: \(answers)")
        stage.result("\(answers.count) answers over two connections")
    }
}
