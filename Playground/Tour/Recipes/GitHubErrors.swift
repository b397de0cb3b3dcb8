import RxNetworking

extension Recipe {
    static let gitHubErrors = Recipe(
        "Typed errors", "404 and 422 carry the messages of GitHub."
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
