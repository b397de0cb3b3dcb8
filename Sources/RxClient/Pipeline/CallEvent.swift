public import RxHTTP

/// What the stages of a call hand on.
public enum CallEvent: Sendable {
    /// An event of a response on its way.
    case transfer(TransferEvent)
    /// The whole response.
    indirect case response(Response)
    /// What has been made of it: the output of an endpoint, an event of a download or of an event source.
    case output(any Sendable)

    /// The head of the response, where the event has it.
    public var head: ResponseHead? {
        switch self {
        case .transfer(.head(let head)): head
        case .response(let response): response.head
        default: nil
        }
    }
}

/// The event of a response on its way that a value is; `nil` for other values.
func transferEvent(in value: some Sendable) -> TransferEvent? {
    if case .transfer(let event) = value as? CallEvent { event } else { value as? TransferEvent }
}

extension CallEvent: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The event or the response without secrets; of an output its type.
    public var description: String {
        switch self {
        case .transfer(let event): "\(event)"
        case .response(let response): "\(response)"
        case .output(let output): "\(type(of: output))"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Empty, so that `dump` shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
