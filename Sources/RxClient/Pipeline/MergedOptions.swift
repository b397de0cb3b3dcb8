import RxHTTP

/// The options of an endpoint's calls, merged with the client's. Endpoints that set no options share those of
/// the client.
final class MergedOptions: Sendable {
    let values: RequestOptions.Values
    /// The content types that the endpoint accepts, if it specifies any.
    let ownContentTypes: ContentTypes?
    /// Whether the endpoint specifies how to validate its responses.
    let hasOwnValidation: Bool
    /// Whether the endpoint has interceptors.
    let hasOwnInterceptors: Bool
    /// The header fields of the endpoint.
    let ownHeaders: Headers

    /// The options of handmade requests, which follow no client.
    static let none = MergedOptions(RequestOptions(), over: RequestOptions())

    init(_ own: RequestOptions = RequestOptions(), over clients: RequestOptions) {
        values = own.values.over(clients.values)
        ownContentTypes = own.contentTypes
        hasOwnValidation = own.contentTypes != nil || own.envelope != nil
        hasOwnInterceptors = !own.interceptors.isEmpty
        ownHeaders = own.headers
    }
}

extension Client {
    func merged(_ own: RequestOptions) -> MergedOptions {
        own.isEmpty ? options : MergedOptions(own, over: configuration.options)
    }
}
