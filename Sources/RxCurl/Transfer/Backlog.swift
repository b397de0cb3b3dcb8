/// Chunks that arrived while the consumer was paused and that curl cannot keep, first in, first out.
struct Backlog {
    private var chunks: [[UInt8]] = []
    private var first = 0

    mutating func append(_ chunk: [UInt8]) { chunks.append(chunk) }

    mutating func next() -> [UInt8]? {
        guard first < chunks.count else { return nil }
        defer {
            chunks[first] = []
            first += 1
            if first == chunks.count { (chunks, first) = ([], 0) }
        }
        return chunks[first]
    }
}
