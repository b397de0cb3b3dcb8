/// Messages of the domain name system (RFC 1035 §4.1).
public enum DNSMessage {
    /// A question of a query.
    public struct Question: Sendable, Hashable {
        /// The name, in lower case.
        public let name: String
        /// The type of record: 1 for A, 28 for AAAA (RFC 3596).
        public let type: UInt16

        /// Creates a question for comparison.
        public init(name: String, type: UInt16) {
            self.name = name
            self.type = type
        }
    }

    private static let headerSize = 12

    /// The question of a query with one question; `nil` for other messages.
    static func question(in message: [UInt8]) -> Question? {
        guard message.count > headerSize, message[4...5] == [0, 1] else { return nil }
        var labels: [String] = []
        var rest = message[headerSize...]
        while let length = rest.popFirst(), length > 0 {
            guard length < 64, rest.count >= length else { return nil }
            labels.append(String(decoding: rest.prefix(Int(length)), as: UTF8.self).lowercased())
            rest = rest.dropFirst(Int(length))
        }
        guard rest.count >= 4 else { return nil }
        let type = rest.prefix(2).reduce(0) { UInt16($0) << 8 | UInt16($1) }
        return Question(name: labels.joined(separator: "."), type: type)
    }

    static func answer(to query: [UInt8], _ question: Question, _ address: [UInt8]?) -> [UInt8] {
        let records: [UInt8]
        if question.type == 1, let address {
            // The name is in the question, at byte 12. Type A, class IN, TTL 60 seconds.
            records = [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4] + address
        } else {
            records = []
        }
        // Response, recursion desired and available; code 3 for a name that does not exist.
        let flags: [UInt8] = [0x81, address == nil ? 0x83 : 0x80]
        let counts: [UInt8] = [0, 1, 0, records.isEmpty ? 0 : 1, 0, 0, 0, 0]
        // The question ends after its name, type and class; the data after it (EDNS) is not sent back.
        let nameSize = query[headerSize...].firstIndex(of: 0).map { $0 - headerSize + 1 } ?? 1
        return query[0..<2] + flags + counts + query[headerSize..<headerSize + nameSize + 4] + records
    }
}
