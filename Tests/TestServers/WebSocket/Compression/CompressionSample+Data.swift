extension CompressionSample {
    /// Results of cases as JSON, 194,056 octets.
    static let json = CompressionSample(
        "JSON", isText: true,
        filled(194_056) { place, random in
            """
                  "\(place / 20 + 1).\(place % 20 + 1)": {
                     "behavior": "\(random.below(30) == 0 ? "NON-STRICT" : "OK")",
                     "behaviorClose": "OK",
                     "duration": \(random.below(400)),
                     "remoteCloseCode": \(random.below(20) == 0 ? "null" : "1000"),
                     "reportfile": "client_case_\(place / 20 + 1)_\(place % 20 + 1).json"
                  },\n
            """
        })

    /// A bitmap of 512 × 512 grey pixels with gradients and noise, 263,222 octets.
    static let bitmap = {
        var bytes: [UInt8] = [0x42, 0x4D]
        func append(_ value: Int, _ count: Int) {
            bytes += (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        // The two headers and the palette of the format.
        for (value, count) in [
            (263_222, 4), (0, 4), (1078, 4), (40, 4), (512, 4), (512, 4), (1, 2), (8, 2), (0, 4),
            (262_144, 4),
            (2835, 4), (2835, 4), (256, 4), (0, 4),
        ] { append(value, count) }
        for grey in 0..<256 { append(grey * 0x01_0101, 4) }
        var random = SeededNumbers(seed: 12)
        for row in 0..<512 {
            for column in 0..<512 { bytes.append(UInt8((row + column) / 7 + random.below(100))) }
        }
        return CompressionSample("a bitmap", isText: false, bytes)
    }()

    /// Verses of invented German words, 222,218 octets, sent as binary messages.
    static let german = CompressionSample(
        "German verse", isText: false,
        filled(222_218) { _, random in
            // Some words are much more frequent than others, as in a language.
            var verse = (0..<5 + random.below(4)).map { _ in
                words[(0..<4).map { _ in random.below(words.count) }.reduce(words.count - 1, min)]
            }
            verse[0] = verse[0].prefix(1).uppercased() + verse[0].dropFirst()
            return verse.joined(separator: " ") + random.element(of: [",", ";", ".", "!", ""]) + "\r\n"
        })

    /// A page with a table of results, 263,647 octets, with a few characters beyond ASCII.
    static let html = CompressionSample(
        "HTML", isText: true,
        filled(263_647) { place, random in
            """
                        <tr class="agent_case_result_row">
                           <td class="case"><a href="#case_desc_\(place)">Case \(place)</a></td>
                           <td class="case_\(random.below(9) == 0 ? "non_strict" : "ok")">
                              \(place % 20 == 0 ? "✓" : "Pass")<br/>
                              <span class="case_duration">\(random.below(900)) ms</span></td>
                           <td class="close">\(random.below(9) == 0 ? "None" : "1000")</td>
                        </tr>\n
            """
        })

    /// A document of objects, most of them compressed streams, 1,042,328 octets.
    static let document = {
        var random = SeededNumbers(seed: 14)
        var bytes = Array("%PDF-1.4\n".utf8)
        var object = 1
        while bytes.count < 1_042_328 {
            bytes += Array(
                "\(object) 0 obj\n<< /Type /XObject /Filter /FlateDecode /Length 3072 >>\nstream\n".utf8)
            for _ in 0..<3072 / 8 {
                let value = random.next()
                bytes += (0..<8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
            }
            bytes += Array("\nendstream\nendobj\n".utf8)
            for line in 0..<16 {
                bytes += Array(
                    "/F\(line) 9.96 Tf \(random.below(500)).\(random.below(9)) 0 Td [(text)] TJ\n".utf8)
            }
            object += 1
        }
        return CompressionSample("a document", isText: false, Array(bytes.prefix(1_042_328)))
    }()

    /// Texts joined until they have `count` octets; a character that would be cut becomes spaces.
    private static func filled(
        _ count: Int, _ piece: (_ place: Int, _ random: inout SeededNumbers) -> String
    ) -> [UInt8] {
        var random = SeededNumbers(seed: 13)
        var bytes: [UInt8] = []
        var place = 0
        while bytes.count < count {
            bytes += Array(piece(place, &random).utf8)
            place += 1
        }
        bytes.removeLast(bytes.count - count)
        for index in bytes.indices.suffix(4) where bytes[index] >= 0x80 { bytes[index] = UInt8(ascii: " ") }
        return bytes
    }

    /// Words of one or two invented syllables.
    private static let words = {
        let onsets = "b br d dr f fl fr g gl gr h k kl kr l m n p pf r s sch schl schw sp st str t tr v w z"
        let vowels = "a e i o u ä ö ü au ei ie eu"
        let codas = "|||n|r|l|t|st|nd|ng|ch|cht|s|m|rt|ft|ck|tz|en|er|e|es"
        let parts = [
            onsets.split(separator: " "), vowels.split(separator: " "),
            codas.split(separator: "|", omittingEmptySubsequences: false),
        ]
        var random = SeededNumbers(seed: 11)
        return (0..<6000).map { _ in
            (0..<1 + random.below(2)).map { _ in
                parts.map { String($0[random.below($0.count)]) }.joined()
            }.joined()
        }
    }()
}
