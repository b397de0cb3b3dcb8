/// The recorded entries, limited in number and in total size; the oldest are removed first.
package struct HAREntries {
    private let limit: Int
    /// The most bytes in memory, approximately.
    private let byteLimit: Int
    private var entries: [Int: (entry: HAR.Entry, size: Int)] = [:]
    private var size = 0
    /// A lower bound of the entries' numbers.
    private var lowest = 0

    package init(limit: Int, byteLimit: Int) {
        self.limit = max(0, limit)
        self.byteLimit = max(0, byteLimit)
    }

    /// All entries in the order of their numbers.
    package var all: [HAR.Entry] { entries.sorted { $0.key < $1.key }.map(\.value.entry) }

    /// - Parameter number: the number of the entry's exchange. No other entry has it.
    package mutating func add(_ entry: HAR.Entry, _ number: Int) {
        let bytes = entry.size
        entries[number] = (entry, bytes)
        size += bytes
        lowest = min(lowest, number)
        while entries.count > limit || size > byteLimit,
            let oldest = entries.removeValue(forKey: lowest) ?? next()
        {
            size -= oldest.size
        }
    }

    /// Removes and returns the entry with the lowest number; `nil` if there is none.
    private mutating func next() -> (entry: HAR.Entry, size: Int)? {
        while !entries.isEmpty {
            lowest += 1
            if let found = entries.removeValue(forKey: lowest) { return found }
        }
        return nil
    }
}

extension HAR.Entry {
    /// The approximate size of the entry in memory, in bytes.
    fileprivate var size: Int {
        let texts = [
            request.url, request.postData?.text ?? "", response.content.text ?? "", response.redirectURL,
            error ?? "",
        ]
        let pairs =
            request.headers + request.queryString + (request.postData?.params ?? []) + response.headers
        let cookies = request.cookies + response.cookies
        let messages = webSocketMessages ?? []
        return 1024 + messages.reduce(0) { $0 + 48 + $1.data.utf8.count }
            + texts.reduce(0) { $0 + $1.utf8.count }
            + pairs.reduce(0) { $0 + 32 + $1.name.utf8.count + $1.value.utf8.count }
            + cookies.reduce(0) {
                $0 + 128 + $1.name.utf8.count + ($1.path ?? "").utf8.count + ($1.domain ?? "").utf8.count
            }
    }
}
