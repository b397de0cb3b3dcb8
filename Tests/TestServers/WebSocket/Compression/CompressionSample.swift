/// Data from which the messages of sections 12 and 13 are cut.
///
/// The suite ships files: reports in JSON, a bitmap of a portrait, Goethe's “Faust”, a page of HTML and a
/// PDF. These samples are generated instead, the same ones each time, with the kind, the size and about the
/// compressibility of these files.
struct CompressionSample: Sendable {
    let name: String
    /// Whether the messages are texts. The suite sends “Faust” as binary messages.
    let isText: Bool
    private let bytes: [UInt8]
    /// The places of the code points in a text that has other characters than ASCII.
    private let codePoints: [Int]?

    init(_ name: String, isText: Bool, _ bytes: [UInt8]) {
        self.name = name
        self.isText = isText
        self.bytes = bytes
        let isASCII = bytes.allSatisfy { $0 < 0x80 }
        codePoints =
            isASCII || !isText ? nil : bytes.indices.filter { bytes[$0] & 0xC0 != 0x80 } + [bytes.count]
    }

    static let all = [json, bitmap, german, html, document]

    /// The payload of the message with this index: `length` octets, or code points of a text. Each message
    /// continues where the one before has ended, from the end of the data at its start.
    func slice(_ index: Int, length: Int) -> Octets {
        let count = codePoints.map { $0.count - 1 } ?? bytes.count
        let from = index * length % count
        let to = (from + length) % count
        if to > from { return Octets(Array(part(from, to))) }
        return Octets(Array(part(from, count) + part(0, to)))
    }

    private func part(_ from: Int, _ to: Int) -> ArraySlice<UInt8> {
        guard let codePoints else { return bytes[from..<to] }
        return bytes[codePoints[from]..<codePoints[to]]
    }
}
