import RxNetworking

extension Client {
    /// The pictures module.
    var pictures: Pictures { Pictures(client: self) }
}

/// The module for pictures of customers.
struct Pictures: Sendable {
    let client: Client

    /// Uploads a file and reports its progress.
    ///
    /// - Parameter rate: the bytes per second at which the server receives it.
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
