extension AutobahnCase {
    /// Section 13: permessage-deflate with the parameters that a server can ask for.
    ///
    /// Each list is what the server accepts, best first. A client that does not offer
    /// `client_max_window_bits` does not implement 13.3 to 13.6, and gets no compression there.
    static let compressionParameters: [AutobahnCase] = parameters.enumerated().flatMap { index, requests in
        compressed("13.\(index + 1)", .json, deflate: requests)
    }

    private static let parameters: [[DeflateRequest]] = [
        [DeflateRequest()],
        [DeflateRequest(clientWithoutContext: true)],
        [DeflateRequest(clientBits: 9)],
        [DeflateRequest(clientBits: 15)],
        [DeflateRequest(clientWithoutContext: true, clientBits: 9)],
        [DeflateRequest(clientWithoutContext: true, clientBits: 15)],
        [
            DeflateRequest(clientWithoutContext: true, clientBits: 9),
            DeflateRequest(clientWithoutContext: true),
            DeflateRequest(),
        ],
    ]
}
