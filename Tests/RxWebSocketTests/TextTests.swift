import Testing

@testable import RxWebSocket

/// Texts are UTF-8, and what is not is refused at the first byte that cannot be.
@Suite struct TextTests {
    static let valid: [[UInt8]] =
        [
            "", "a", "é", "€", "😀", "κόσμε", "\u{0}",
            "\u{7FF}\u{800}\u{D7FF}\u{E000}\u{FFFF}\u{10000}\u{10FFFF}",
        ]
        .map { Array($0.utf8) } + [Array(String(repeating: "a", count: 100).utf8) + Array("é".utf8)]

    /// Bytes, and the index of the first one with which no text can begin any more; `nil` if the text ends
    /// inside a character.
    static let invalid: [([UInt8], Int?)] = [
        ([0x80], 0), ([0xBF], 0), ([0xC0, 0x80], 0), ([0xC1, 0xBF], 0), ([0xF5, 0x80, 0x80, 0x80], 0),
        ([0xFE], 0), ([0xFF], 0), ([0xC2, 0x41], 1), ([0xC2], nil), ([0xE0, 0x9F, 0xBF], 1),
        ([0xE0, 0xA0], nil), ([0xE2, 0x82, 0x28], 2), ([0xED, 0xA0, 0x80], 1), ([0xED, 0xBF, 0xBF], 1),
        ([0xF0, 0x8F, 0xBF, 0xBF], 1), ([0xF0, 0x9F, 0x98], nil), ([0xF0, 0x9F, 0x98, 0xC0], 3),
        ([0xF4, 0x90, 0x80, 0x80], 1), ([0xF4, 0x8F, 0xBF], nil), ([0x61, 0xE2, 0x82, 0xAC, 0xAC], 4),
        ([UInt8](repeating: 0x61, count: 40) + [0xFF] + [UInt8](repeating: 0x61, count: 40), 40),
    ]

    @Test(arguments: valid)
    func textsAreTaken(_ bytes: [UInt8]) {
        let expected: [WebSocketInput] = [.message(.text(String(decoding: bytes, as: UTF8.self)))]
        #expect(Outcome(of: frame(0x81, bytes)).inputs == expected)
        #expect(Outcome(of: frame(0x81, bytes), by: 1).inputs == expected)
        #expect(Outcome(of: frame(0x01, bytes) + frame(0x80)).inputs == expected)
    }

    @Test(arguments: invalid)
    func othersAreRefused(_ bytes: [UInt8], _ index: Int?) {
        for stream in [frame(0x81, bytes), frame(0x01, bytes) + frame(0x80)] {
            let outcome = Outcome(of: stream)
            #expect(outcome.violation == .invalidText)
            #expect(outcome.inputs.count == 1)
            #expect(Outcome(of: stream, by: 1) == outcome)
        }
        guard let index else {
            #expect(Outcome(of: frame(0x01, bytes)).inputs.isEmpty)
            return
        }
        // Within a frame, as soon as the byte has arrived and no sooner.
        let long = frame(0x81, bytes, length: 100)
        #expect(Outcome(of: Array(long.prefix(2 + index))).inputs.isEmpty)
        #expect(Outcome(of: Array(long.prefix(3 + index))).violation == .invalidText)
        // After a fragment, without the rest of the message.
        #expect(Outcome(of: frame(0x01, Array(bytes[...index]))).violation == .invalidText)
    }

    @Test func binaryMessagesNeedNotBeText() {
        #expect(Outcome(of: frame(0x82, [0xFF]), by: 1).inputs == [.message(.binary([0xFF]))])
    }

    @Test func agreesWithTheStandardLibrary() {
        var random = Steps(3)
        let bytes: [UInt8] = [
            0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC2, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4,
        ]
        for _ in 0..<20_000 {
            let ascii = [UInt8](repeating: 0x61, count: Int.random(in: 0...20, using: &random))
            let tail = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                bytes.randomElement(using: &random) ?? 0
            }
            let text = ascii + tail
            var check = UTF8Check()
            let cut = Int.random(in: 0...text.count, using: &random)
            let isValid = unsafe text.withUnsafeBytes { all in
                unsafe check.take(UnsafeRawBufferPointer(rebasing: all[..<cut]))
                    && check.take(UnsafeRawBufferPointer(rebasing: all[cut...])) && check.isComplete
            }
            #expect(isValid == (String(validating: text, as: UTF8.self) != nil), "\(text) cut at \(cut)")
        }
    }

    @Test func takesEveryCharacter() {
        let scalars = (0...0x10FFFF).lazy.compactMap { Unicode.Scalar(UInt32($0)) }
        let text = Array(String(String.UnicodeScalarView(scalars)).utf8)
        #expect(unsafe UTF8Check.isText(text.span.bytes))
        #expect(unsafe !UTF8Check.isText((text + [0xF4]).span.bytes))
    }

    /// Every first and second byte with the third and fourth at their borders.
    @Test(arguments: [UInt8](0xC0...0xFF))
    func takesNothingElse(_ first: UInt8) {
        let borders: [UInt8] = [0x41, 0x7F, 0x80, 0xBF, 0xC0]
        for second in UInt8.min...UInt8.max {
            for third in borders {
                for fourth in borders {
                    let bytes = [first, second, third, fourth]
                    let isText = String(validating: bytes, as: UTF8.self) != nil
                    // Bytes behind them, so that they are read as a word, and none behind them.
                    if unsafe UTF8Check.isText(bytes.span.bytes) != isText
                        || UTF8Check.isText((bytes + [0x61, 0x61]).span.bytes) != isText
                    {
                        Issue.record("\(bytes)")
                    }
                }
            }
        }
    }
}
