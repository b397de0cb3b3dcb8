import HTTPTypes
import RxHTTP

/// The rules of one attempt at a download: the request to send, and the meaning of the response.
struct DownloadPlan: Equatable, Sendable {
    /// The first `offset` bytes of the version in `record` are already on the disk.
    struct Start: Equatable, Sendable {
        var record: DownloadRecord
        var offset: Int64
    }

    /// The start of the missing part; `nil` for a new download.
    let start: Start?

    /// - Parameters:
    ///   - url: the current URL of the download.
    ///   - record: the record beside the partial file, if it is readable.
    ///   - size: the size of the partial file.
    init(url: String, record: DownloadRecord?, size: Int64) {
        if let record, record.url == url, size > 0, size <= record.length ?? .max {
            start = Start(record: record, offset: size)
        } else {
            start = nil
        }
    }

    /// A new download, regardless of any partial file.
    static let fromTheStart = DownloadPlan(url: "", record: nil, size: 0)

    /// Requests only the missing part, and only of the same version (RFC 9110 §13.1.5, §14.2).
    func prepare(_ request: inout Request) {
        request.headerFields[.acceptEncoding] = "identity"
        request.headerFields[.range] = start.map { "bytes=\($0.offset)-" }
        request.headerFields[.ifRange] = start?.record.validator
    }

    /// The action for a response.
    enum Decision: Equatable {
        /// Append the body to the partial file, up to `end`; the whole file has `total` bytes.
        case append(at: Int64, end: Int64, total: Int64)
        /// The body is the whole file, with `total` bytes if known.
        case begin(total: Int64?)
        /// The partial file is already complete.
        case complete(total: Int64)
        /// The partial file is useless: request the whole file.
        case startOver
        /// Fail: the response is a part that was not requested.
        case refuse
        /// Fail: the response has no content for a file.
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
