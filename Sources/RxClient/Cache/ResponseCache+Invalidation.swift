import FoundationEssentials
import HTTPTypes
import RxHTTP

extension ResponseCache {
    /// Removes what is kept of the URL that a request may have changed, and of those that the answer names, of the same
    /// origin (RFC 9111 §4.4).
    func invalidate(after response: Response, to request: Request) {
        guard [.successful, .redirection].contains(response.status.kind) else { return }
        let origin = Origin(request.url)
        let named = [HTTPField.Name.location, .contentLocation].compactMap { name in
            response.head[name].flatMap { URL(string: $0, relativeTo: response.url)?.absoluteURL }
        }
        let changed = ([response.url] + named).filter { Origin($0) == origin }.map(\.cacheText)
        for url in Set(changed + [request.cacheURL]) { perform(store.remove(.url(url))) }
    }
}
