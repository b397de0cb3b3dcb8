/// One thing the framework does, shown on a running server.
struct Recipe: Sendable {
    /// What it shows, in a line.
    let title: String
    /// What to look for.
    let summary: String
    /// The file it is written in, whose lines between the markers are shown.
    let file: String
    /// Runs it. Whatever does not end as it must is thrown.
    let run: @Sendable (Stage) async throws -> Void

    init(
        _ title: String, _ summary: String, file: String = #filePath,
        run: @escaping @Sendable (Stage) async throws -> Void
    ) {
        self.title = title
        self.summary = summary
        self.file = file
        self.run = run
    }

    /// All of them, in the order of the tour.
    static let all = [
        typedGet, unwrapEnvelope, threeWays,
        logIn, browseGoods, addToCart, uploadPictures, downloadBrochure, cachedOffers, loadingIndicator,
        retryThroughOutage, standbyServer, reloginOnce, cancelHalfway,
        logOut,
    ]

    /// What is run on a replay of recorded exchanges with the GitHub API.
    static let recording = [gitHubPages, gitHubRedirects, gitHubErrors]
}
