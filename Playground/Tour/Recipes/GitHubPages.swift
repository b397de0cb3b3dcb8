import RxNetworking

extension Recipe {
    static let gitHubPages = Recipe(
        "Pages joined by Link headers", "The issues of a repository as recorded from GitHub, three per page."
    ) { stage in
        // Code
        struct Issues: Endpoint {
            typealias Output = [Issue]
            let path = "/repos/octokit-fixture-org/paginate-issues/issues"
            var parameters: Parameters { .query(["per_page": 3]) }
        }
        let next = Signal<Void>()
        let client = Client(
            configuration: ClientConfiguration(baseURL: stage.baseURL), transport: stage.transport)
        let states = client.pages(Issues(), .link, next: next)
        // Shown
        var last = PagingState<Issue>()
        for await state in states.values(buffering: .unbounded) {
            last = state
            stage.note("\(state.items.count) issues from \(state.page) pages: \(state.phase)")
            if case .idle = state.phase { next.send() }
            if case .end = state.phase { break }
            if case .failed = state.phase { break }
        }
        for issue in last.items { say("             #\(issue.number) \(issue.title) by \(issue.user.login)") }
        stage.expect(last.items.map(\.number) == (1...13).reversed(), "all thirteen issues, newest first")
        stage.expect(last.page == 5, "five pages")
        stage.result("\(last.items.count) issues from \(last.page) pages")
    }
}

/// An issue in GitHub's API.
private struct Issue: Decodable, Sendable {
    struct User: Decodable, Sendable {
        let login: String
    }

    let number: Int
    let title: String
    let user: User
}
