extension TransferEvent: RedactedDescription {
    /// One line without secrets and without content.
    public var description: String {
        switch self {
        case .uploaded(let bytes, let total):
            "uploaded \(bytes) of \(total.map { "\($0)" } ?? "unknown") bytes"
        case .redirected(let request, by: _): "redirected to \(request)"
        case .interim(let head): "interim \(head)"
        case .head(let head): "head \(head)"
        case .chunk(let bytes): "chunk of \(bytes.count) bytes"
        case .trailers(let fields):
            "trailers " + Redaction().shown(fields).map { "\($0.name): \($0.value)" }.joined(separator: ", ")
        case .finished(let metrics): "finished after \(metrics.total)"
        }
    }
}
