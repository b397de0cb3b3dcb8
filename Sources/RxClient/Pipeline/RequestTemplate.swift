import FoundationEssentials
import HTTPTypes
import RxHTTP

/// The common base of all requests of a client: made once, and shared by the requests until one is changed.
struct RequestTemplate: Sendable {
    /// A request without a destination.
    private let request: Request
    /// The error in the configuration's fields, which every request fails with.
    private let flaw: NetworkError?

    init(_ configuration: ClientConfiguration) {
        var request = Request(
            url: URL(filePath: "/"), timeouts: configuration.options.timeouts ?? Timeouts(),
            bodyLimit: configuration.bodyLimit)
        request.secretFields = configuration.secretFields
        request.secretParameters = configuration.secretParameters
        do throws(NetworkError) {
            if let userAgent = configuration.userAgent { try request.setField(.userAgent, to: userAgent) }
            if let authentication = configuration.authentication {
                try request.authenticate(by: authentication)
            }
            try request.setFields(configuration.options.headers)
            flaw = nil
        } catch {
            flaw = error
        }
        self.request = request
    }

    /// - Throws: `invalidHeader` or `invalidParameters` for errors in the configuration.
    func request(_ method: HTTPRequest.Method, at url: URLText) throws(NetworkError) -> Request {
        try checked(Request(like: request, method: method, url: url))
    }

    /// The same for any URL.
    func request(_ method: HTTPRequest.Method, at url: URL) throws(NetworkError) -> Request {
        try checked(Request(like: request, method: method, url: url))
    }

    private func checked(_ request: Request) throws(NetworkError) -> Request {
        if let flaw { throw flaw.attributed(to: request) }
        return request
    }
}
