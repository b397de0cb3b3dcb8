public import RxHTTP

/// A typed result with the response that it was made from.
public struct TypedResponse<Output: Sendable>: Sendable {
    /// The typed result.
    public let output: Output
    /// The whole response, including its body.
    public let response: Response

    /// The server's message in the envelope of the success, such as `saved`; `nil` if it sends none.
    public var serverMessage: String? {
        response.serverMessage.flatMap { try? response.scalarText(at: $0) }
    }
}

extension Endpoint {
    /// Decodes and validates the response. The response supplies the details that an error of the validator
    /// lacks.
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
