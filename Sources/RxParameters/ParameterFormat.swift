/// The format of parameters: of a whole client with `ClientConfiguration.parameterFormat`, of one request
/// with ``Parameters/sent(as:)``.
public enum ParameterFormat: Sendable {
    /// A JSON body.
    case json
    /// An `application/x-www-form-urlencoded` body.
    case form
    /// The URL's query.
    case query
    /// A `multipart/form-data` body, with each value as a text part.
    case multipart
    /// A body of a custom serializer.
    case custom(ParameterSerializer)
}
