import RxLite

/// A segment of a form as it is sent: a run of bytes in memory, or one streamed part.
enum Segment: Sendable {
    case memory([UInt8])
    case streamed(StreamedBody)
}

extension [Segment] {
    /// Appends bytes to the last segment if it is in memory, otherwise as a new segment.
    mutating func append(memory bytes: [UInt8]) {
        guard case .memory(var last) = last else { return append(.memory(bytes)) }
        removeLast()
        last += bytes
        append(.memory(last))
    }
}

extension StreamedBody {
    /// The segments in order. The length is known if that of every segment is known.
    init(_ segments: [Segment]) {
        let isReplayable = segments.allSatisfy {
            if case .streamed(let body) = $0 { body.isReplayable } else { true }
        }
        let count = segments.reduce(Optional(Int64(0))) { sum, segment in
            switch segment {
            case .memory(let bytes): sum.map { $0 + Int64(bytes.count) }
            case .streamed(let body): body.count.flatMap { count in sum.flatMap { $0.adding(count) } }
            }
        }
        self.init(isReplayable: isReplayable, count: count) { files in
            let contents = segments.map { segment -> Observable<Content, NetworkError> in
                switch segment {
                case .memory(let bytes):
                    .just(Content(length: Int64(bytes.count), exactly: .just(bytes)))
                case .streamed(let body): body.open(files)
                }
            }
            return Observable.concat(contents).collect().map(Content.init(joining:))
        }
    }
}

extension StreamedBody.Content {
    fileprivate init(joining contents: [StreamedBody.Content]) {
        length = contents.reduce(Optional(Int64(0))) { sum, content in
            content.length.flatMap { length in sum.flatMap { $0.adding(length) } }
        }
        chunks = .concat(contents.map(\.chunks))
    }
}

extension Int64 {
    /// `nil` on overflow.
    fileprivate func adding(_ other: Int64) -> Int64? {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? nil : sum
    }
}
