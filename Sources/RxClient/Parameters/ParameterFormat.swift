/// How parameters travel: for a whole client by ``ClientConfiguration/parameterFormat``, for one request by
/// ``Parameters/sent(as:)``.
public enum ParameterFormat: Sendable {
    /// As a JSON body.
    case json
    /// As an `application/x-www-form-urlencoded` body.
    case form
    /// In the URL's query.
    case query
    /// As a `multipart/form-data` body, where each value is a text.
    case multipart
    /// As a body by a custom serializer.
    case custom(ParameterSerializer)
}
