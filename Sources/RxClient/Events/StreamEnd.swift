public import RxHTTP

/// The item that ends a stream.
///
/// The stream finishes with that item and closes its connection. A response that ends without it counts as
/// interrupted.
///
/// ```swift
/// client.events(answer, until: .data("[DONE]"))
/// ```
public struct StreamEnd<Item: Sendable>: Sendable {
    let isEnd: @Sendable (Item) -> Bool
    let isDelivered: Bool

    /// The first item that satisfies a condition.
    ///
    /// - Parameters:
    ///   - isDelivered: whether the stream sends the item before it finishes. Default false.
    ///   - condition: the condition.
    public static func item(
        isDelivered: Bool = false, where condition: @escaping @Sendable (Item) -> Bool
    ) -> StreamEnd {
        StreamEnd(isEnd: condition, isDelivered: isDelivered)
    }
}

extension StreamEnd where Item == ServerSentEvent {
    /// The first event with exactly this data, such as `[DONE]`.
    ///
    /// - Parameter isDelivered: whether the stream sends the event before it finishes. Default false.
    public static func data(_ data: String, isDelivered: Bool = false) -> StreamEnd {
        item(isDelivered: isDelivered) { $0.data == data }
    }

    /// The first event of this type (`event:`), such as `message_stop`.
    ///
    /// - Parameter isDelivered: whether the stream sends the event before it finishes. Default false.
    public static func event(named type: String, isDelivered: Bool = false) -> StreamEnd {
        item(isDelivered: isDelivered) { $0.type == type }
    }
}
