import FoundationEssentials
import Testing

/// Large byte arrays to compare: fast (`memcmp`), and a failure does not print them, which would delay the
/// other tests until they time out.
struct Bytes: Equatable, CustomTestStringConvertible {
    private let content: Data

    init(_ content: [UInt8]) { self.content = Data(content) }

    var testDescription: String {
        let sum = content.reduce(0 as UInt32) { ($0 << 5 | $0 >> 27) ^ UInt32($1) }
        return "\(content.count) bytes of sum \(sum)"
    }
}
