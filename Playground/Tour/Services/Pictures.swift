import RxNetworking

extension Client {
    /// What customers show of their tea.
    var pictures: Pictures { Pictures(client: self) }
}

/// The module for pictures.
struct Pictures: Sendable {
    let client: Client

    /// Uploads a file, with its progress on the way.
    ///
    /// - Parameter rate: at how many bytes a second the server is to take it.
    func upload(_ path: String, rate: Int) -> Observable<ProgressEvent<Picture>, NetworkError> {
        client.progress(of: UploadPicture(file: path, query: ["rate": rate]))
    }
}

private struct UploadPicture: Endpoint {
    typealias Output = Picture
    let file: String
    let query: Parameters.Values
    let path = "/pictures"
    let method = HTTPRequest.Method.post
    let options = RequestOptions(tags: ["upload"])
    var parameters: Parameters {
        .multipart([.text("album", "tea time"), .file("picture", file, contentType: "image/png")])
            .query(query)
    }
}
