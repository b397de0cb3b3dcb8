public import RxHTTP

/// The items that a stream has received when one of its connections has ended, and the reason of that end.
public struct ReceivedItems<Item: Sendable>: Sendable {
    /// The items of all connections, the oldest first; at most as many as the resumption keeps.
    public internal(set) var items: [Item] = []
    /// The number of items of all connections.
    public internal(set) var count = 0
    /// The number of items of the connection that has ended.
    public internal(set) var newCount = 0
    /// The number of connections in a row that delivered no item.
    public internal(set) var failures = 0
    /// The last id of an event stream; empty for none.
    public internal(set) var lastEventID = ""
    /// The error that ended the connection; `nil` if the server ended it normally.
    public internal(set) var error: NetworkError?

    mutating func append(_ item: Item, keeping limit: Int) {
        count += 1
        newCount += 1
        failures = 0
        guard limit > 0 else { return }
        items.append(item)
        // Not at each item, so that an item is moved only once.
        if items.count / 2 >= limit { dropOldest(keeping: limit) }
    }

    mutating func dropOldest(keeping limit: Int) {
        items.removeFirst(max(0, items.count - max(0, limit)))
    }
}
