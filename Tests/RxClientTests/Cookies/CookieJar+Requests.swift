import RxHTTP

@testable import RxClient

extension CookieJar {
    /// A request that goes to where its URL says.
    func adding(to request: Request) -> (Request, epoch: Int) {
        CookieOrigin(request.url).map { adding(to: request, at: $0) } ?? (request, 0)
    }

    /// An answer from where the URL says.
    func store(_ head: ResponseHead, for request: Request, epoch: Int) {
        if let origin = CookieOrigin(request.url) { store(head, for: request, at: origin, epoch: epoch) }
    }
}
