import FoundationEssentials
import Testing

/// Bytes to be compared where there are many: quick (`memcmp`), and a failure does not print them, which would keep the
/// other tests waiting until they are out of time.
struct Bytes: Equatable, CustomTestStringConvertible {
    private let content: Data

    init(_ content: [UInt8]) { self.content = Data(content) }

    var testDescription: String {
        let sum = content.reduce(0 as UInt32) { ($0 << 5 | $0 >> 27) ^ UInt32($1) }
        return "\(content.count) bytes of sum \(sum)"
    }
}
