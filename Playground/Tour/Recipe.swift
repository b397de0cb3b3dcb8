/// A demonstration of one feature, with a running server.
struct Recipe: Sendable {
    /// The feature, in one line.
    let title: String
    /// A description of what happens.
    let summary: String
    /// The source file of the recipe, whose lines between the markers are shown.
    let file: String
    /// Runs the recipe. Throws if it cannot be completed.
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

    /// All recipes, in the order of the tour. A build without the trait Auth, Fleet or Outbox has fewer.
    static let all =
        [wholeChain, typedGet, unwrapEnvelope, threeWays, logIn] + otherLogins + [
            browseGoods, searchGoods, addToCart, uploadPictures, downloadBrochure, queueDownloads,
            cachedOffers,
            loadingIndicator,
            retryThroughOutage, standbyServer, reloginOnce, cancelHalfway,
            chatThroughBreak, answerThroughBreak, priceTicker,
        ] + stored + shared + [logOut]

    #if Auth
    private static let otherLogins = [logInOnAnotherScreen]
    #else
    private static let otherLogins: [Recipe] = []
    #endif

    /// The recipes for a replay of recorded exchanges with the GitHub API.
    static let recording = [gitHubPages, gitHubRedirects, gitHubErrors]
}
