/// How parameters travel that say nothing of it themselves, with methods that have content.
public enum ParameterFormat: Sendable {
    /// As a JSON body.
    case json
    /// As an `application/x-www-form-urlencoded` body.
    case form
    /// In the URL's query.
    case query
}
