import HTTPTypes
import RxHTTP

/// The rules of one attempt at a download: what is asked for, and what a response means.
struct DownloadPlan: Equatable, Sendable {
    /// The first `offset` bytes of what `record` names are there.
    struct Start: Equatable, Sendable {
        var record: DownloadRecord
        var offset: Int64
    }

    /// Where to go on; `nil` to begin.
    let start: Start?

    /// - Parameters:
    ///   - url: where the download is from now.
    ///   - record: what stands beside the half file, if anything readable does.
    ///   - size: the size of the half file.
    init(url: String, record: DownloadRecord?, size: Int64) {
        if let record, record.url == url, size > 0, size <= record.length ?? .max {
            start = Start(record: record, offset: size)
        } else {
            start = nil
        }
    }

    /// To begin, whatever is there.
    static let fromTheStart = DownloadPlan(url: "", record: nil, size: 0)

    /// Asks for what is missing, and that only of the same version (RFC 9110 §13.1.5, §14.2).
    func prepare(_ request: inout Request) {
        request.headerFields[.acceptEncoding] = "identity"
        request.headerFields[.range] = start.map { "bytes=\($0.offset)-" }
        request.headerFields[.ifRange] = start?.record.validator
    }

    /// What is to be done with a response.
    enum Decision: Equatable {
        /// The body goes behind what is there, up to `end`; the whole has `total` bytes.
        case append(at: Int64, end: Int64, total: Int64)
        /// The body is the whole, of `total` bytes where that is known.
        case begin(total: Int64?)
        /// All of it is there already.
        case complete(total: Int64)
        /// What is there is of no use: ask for the whole.
        case startOver
        /// Nobody asked for this.
        case refuse
        /// There is nothing to put into a file.
        case nothing
    }

    func decide(_ head: ResponseHead) -> Decision {
        switch head.status.code {
        case 206: start.map { decide(head, partOf: $0) } ?? .refuse
        case 416: start.map { decide(head, beyond: $0) } ?? .refuse
        case 204, 205: .nothing
        default: .begin(total: head.isCoded ? nil : head.contentLength)
        }
    }

    private func decide(_ head: ResponseHead, partOf start: Start) -> Decision {
        guard let range = head[.contentRange].flatMap(ContentRange.init), let bytes = range.bytes,
            let total = range.total, bytes.lowerBound == start.offset, !head.isCoded,
            start.record.matches(head), start.record.length ?? total == total,
            head.contentLength ?? Int64(bytes.count) == Int64(bytes.count)
        else { return .startOver }
        return .append(at: start.offset, end: bytes.upperBound + 1, total: total)
    }

    private func decide(_ head: ResponseHead, beyond start: Start) -> Decision {
        guard let range = head[.contentRange].flatMap(ContentRange.init), range.bytes == nil,
            range.total == start.offset, start.record.matches(head),
            start.record.length ?? start.offset == start.offset
        else { return .startOver }
        return .complete(total: start.offset)
    }
}
