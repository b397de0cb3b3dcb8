import FoundationEssentials
import HTTPTypes
import Neighbours
import RxNetworking

private typealias Request = RxNetworking.Request
private typealias Response = RxNetworking.Response

/// Each name of RxNetworking that the other module has too.
private struct Both {
    let client: RxNetworking.Client
    let session: RxNetworking.Session
    let page: RxNetworking.Page<Int>
    let next: RxNetworking.Next
    let file: RxNetworking.File
    let values: RxNetworking.Values<Int, NetworkError>
    let theirs:
        (
            Neighbours.Client, Neighbours.Session, Neighbours.Page, Neighbours.Next, Neighbours.File,
            Neighbours.Values
        )

    /// A server's handler that passes a request on.
    func forward(_ request: Neighbours.Request) async throws -> Neighbours.Response {
        let own = Request(url: URL(filePath: request.path))
        let response: Response = try await client.exchange(own).response(to: own).value()
        return Neighbours.Response(body: response.text)
    }
}
