internal import RxHTTP

/// Decides which of curl's upload counts are reported: at most 20 per second, and always the last one.
struct UploadProgress {
    private let total: Int64?
    private var reported: Int64 = -1
    private var reportedAt: Duration?
    private static let interval = Duration.milliseconds(50)

    /// - Parameter total: the number of bytes to send, more than zero; `nil` if unknown.
    init(total: Int64?) { self.total = total }

    /// Whether all bytes have been reported as sent.
    var isComplete: Bool { reported == total }

    /// Returns the event for `sent` bytes, if it is time for one. A count that decreases, because curl sends
    /// again on a new connection, is not reported.
    mutating func advance(to sent: Int64, now: Duration) -> TransferEvent? {
        let sent = min(sent, total ?? .max)
        guard sent > max(reported, 0) else { return nil }
        if sent != total, let reportedAt, now - reportedAt < Self.interval { return nil }
        reportedAt = now
        return report(sent)
    }

    /// Returns the event that must precede the head, unless it has already been reported.
    mutating func finish(at sent: Int64) -> TransferEvent? {
        let sent = min(max(sent, reported), total ?? .max)
        return sent <= max(reported, 0) && sent != total ? nil : sent == reported ? nil : report(sent)
    }

    private mutating func report(_ sent: Int64) -> TransferEvent {
        reported = sent
        return .uploaded(bytes: sent, of: total)
    }
}
