public import RxHTTP

/// A typed result next to the response it was made from.
public struct Answer<Output: Sendable>: Sendable {
    /// The typed result.
    public let output: Output
    /// The whole response, body included.
    public let response: Response
}

extension Endpoint {
    /// Decoding, then the validator, whose errors tell of the response what they do not say themselves.
    func answer(from response: Response) throws(NetworkError) -> Answer<Output> {
        let answer = Answer(output: try output(from: response), response: response)
        do throws(NetworkError) {
            try validate(answer)
        } catch {
            throw error.concerning(response)
        }
        return answer
    }
}
