public import RxHTTP

/// An event that the stages of a call pass on.
public enum CallEvent: Sendable {
    /// An event of a response in transfer.
    case transfer(TransferEvent)
    /// The whole response.
    indirect case response(Response)
    /// A result made from the response: the output of an endpoint, an event of a download or of an event
    /// source.
    case output(any Sendable)

    /// The head of the response, if the event contains it.
    public var head: ResponseHead? {
        switch self {
        case .transfer(.head(let head)): head
        case .response(let response): response.head
        default: nil
        }
    }
}

/// The transfer event in a value; `nil` for other values.
func transferEvent(in value: some Sendable) -> TransferEvent? {
    if case .transfer(let event) = value as? CallEvent { event } else { value as? TransferEvent }
}

extension CallEvent: RedactedDescription {
    /// The event or the response without secrets; for an output, its type.
    public var description: String {
        switch self {
        case .transfer(let event): "\(event)"
        case .response(let response): "\(response)"
        case .output(let output): "\(type(of: output))"
        }
    }
}
