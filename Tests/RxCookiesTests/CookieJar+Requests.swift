import RxHTTP

@testable import RxCookies

extension CookieJar {
    /// A request to the origin of its URL.
    func adding(to request: Request) -> (Request, epoch: Int) {
        guard let origin = CookieOrigin(request.url),
            let (request, _, epoch) = adding(to: request, at: origin)
        else { return (request, 0) }
        return (request, epoch)
    }

    /// A response from the URL.
    func store(_ head: ResponseHead, for request: Request, epoch: Int) {
        if let origin = CookieOrigin(request.url) {
            store(head, for: request, at: origin, epoch: epoch, as: nil)
        }
    }
}
