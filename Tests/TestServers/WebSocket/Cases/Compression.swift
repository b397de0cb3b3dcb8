extension AutobahnCase {
    /// Section 12: permessage-deflate with its defaults, for five kinds of payload.
    static let compression: [AutobahnCase] = CompressionSample.all.enumerated().flatMap { index, sample in
        compressed("12.\(index + 1)", sample, deflate: [DeflateRequest()])
    }

    /// The 18 cases of a subsection of 12 and 13: 1,000 messages each, of a size and in fragments of a size.
    static func compressed(
        _ section: String, _ sample: CompressionSample, deflate: [DeflateRequest]
    ) -> [AutobahnCase] {
        let kinds: [(length: Int, fragment: Int?, seconds: Int)] = [
            (16, nil, 60),
            (64, nil, 60),
            (256, nil, 120),
            (1024, nil, 240),
            (4096, nil, 480),
            (8192, nil, 480),
            (16_384, nil, 480),
            (32_768, nil, 480),
            (65_536, nil, 480),
            (131_072, nil, 480),
            (8192, 256, 480),
            (16_384, 256, 480),
            (32_768, 256, 480),
            (65_536, 256, 480),
            (131_072, 256, 480),
            (131_072, 1024, 480),
            (131_072, 4096, 480),
            (131_072, 32_768, 480),
        ]
        return kinds.enumerated().map { index, kind in
            let fragments = kind.fragment.map { ", in fragments of \($0)" } ?? ""
            return .exchanges(
                "\(section).\(index + 1)",
                "1,000 compressed messages of \(kind.length) from \(sample.name)\(fragments)",
                Exchange(
                    count: 1000, opcode: sample.isText ? .text : .binary,
                    division: kind.fragment.map { .fragments($0) } ?? .none, limit: .seconds(kind.seconds),
                    deflate: deflate
                ) { sample.slice($0, length: kind.length) })
        }
    }
}
