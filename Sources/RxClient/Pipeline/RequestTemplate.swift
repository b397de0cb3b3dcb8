import FoundationEssentials
import HTTPTypes
import RxHTTP

/// What all requests of a client begin as: made once, and shared by them until one is changed.
struct RequestTemplate: Sendable {
    /// Goes nowhere yet.
    private let request: Request
    /// What is wrong with the configuration's fields, for every request to fail with.
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

    /// - Throws: `invalidHeader` or `invalidParameters` for what the configuration has.
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
