public import RxHTTP

/// A typed result next to the response it was made from.
public struct TypedResponse<Output: Sendable>: Sendable {
    /// The typed result.
    public let output: Output
    /// The whole response, body included.
    public let response: Response
}

extension Endpoint {
    /// Decoding, then the validator, whose errors tell of the response what they do not say themselves.
    func typedResponse(from response: Response) throws(NetworkError) -> TypedResponse<Output> {
        let typed = TypedResponse(output: try output(from: response), response: response)
        do throws(NetworkError) {
            try validate(typed)
        } catch {
            throw error.concerning(response)
        }
        return typed
    }
}
