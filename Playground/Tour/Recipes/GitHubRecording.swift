import RxNetworking

extension Recipe {
    /// What is run on a replay of recorded exchanges with the GitHub API.
    static let recording = [gitHubPages, gitHubRedirects, gitHubErrors]

    private static let gitHubPages = Recipe(
        "Pages joined by Link headers", "The issues of a repository as GitHub served them, three a page."
    ) { stage in
        // Code
        struct Issues: Endpoint {
            typealias Output = [Issue]
            let path = "/repos/octokit-fixture-org/paginate-issues/issues"
            let method = HTTPRequest.Method.get
            var parameters: Parameters { .query(["per_page": 3]) }
        }
        let next = Signal<Void>()
        let states = Client(baseURL: stage.baseURL).pages(Issues(), .link, next: next)
        // Shown
        var last = PagingState<Issue>()
        for await state in states.values(buffering: .unbounded) {
            last = state
            stage.note("\(state.items.count) issues from \(state.page) pages: \(state.phase)")
            if case .idle = state.phase { next.send() }
            if case .end = state.phase { break }
            if case .failed = state.phase { break }
        }
        for issue in last.items { print("             #\(issue.number) \(issue.title) by \(issue.user.login)") }
        stage.expect(last.items.map(\.number) == (1...13).reversed(), "all thirteen issues, newest first")
        stage.expect(last.page == 5, "five pages")
        stage.result("\(last.items.count) issues from \(last.page) pages")
    }

    private static let gitHubRedirects = Recipe(
        "Redirects", "301 and 302 to a GET are followed as GET, 307 repeats the PATCH with its body."
    ) { stage in
        let scenario = ["X-Scenario": "rename-repository"]
        let client = Client(baseURL: stage.baseURL)
        // Code
        let repository = "/repos/octokit-fixture-org/rename-repository"
        let rename = client.patch(repository, .json(["name": "rename-repository-newname"]), headers: scenario)
        let moved = client.get(repository, headers: scenario)
        let change = client.patch(repository, .json(["description": "test description"]), headers: scenario)
        let archive = client.get(
            "/repos/octokit-fixture-org/get-archive/tarball/main", headers: ["X-Scenario": "get-archive"])
        // Shown
        _ = try await rename.first()
        for (status, stream) in [(301, moved), (307, change), (302, archive)] {
            let (values, error) = await stage.play(stream) { response in
                "\(status) -> \(response.request.method) \(response.url.path) \(response.status)"
            }
            let response = values.first
            stage.expect(error == nil && response?.status.code == 200, "\(status) leads to an answer")
            stage.expect(
                response?.request.method == (status == 307 ? .patch : .get), "\(status) keeps the method")
        }
        stage.result("followed 301, 307 and 302")
    }

    private static let gitHubErrors = Recipe(
        "Errors, typed", "404 and 422 come with GitHub's own words."
    ) { stage in
        let client = Client(baseURL: stage.baseURL)
        // Code
        let protection = client.get("/repos/octokit-fixture-org/branch-protection/branches/main/protection")
        let label = client.post(
            "/repos/octokit-fixture-org/errors/labels", .json(["name": "foo", "color": "invalid"]))
        // Shown
        let (_, missing) = await stage.play(protection)
        stage.expect(missing?.code == .status && missing?.status == .notFound, "404 is a status error")
        stage.expect(missing?.message == "Branch not protected", "with the server's message")
        let (_, invalid) = await stage.play(label)
        stage.expect(invalid?.status == .unprocessableContent, "422 is a status error")
        stage.expect(invalid?.message == "Validation Failed", "with the server's message")
        stage.result("\(missing?.message ?? "?"); \(invalid?.message ?? "?")")
    }
}

/// An issue as GitHub describes it.
private struct Issue: Decodable, Sendable {
    struct User: Decodable, Sendable {
        let login: String
    }

    let number: Int
    let title: String
    let user: User
}
