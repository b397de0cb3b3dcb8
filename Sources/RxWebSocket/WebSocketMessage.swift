/// A message of a WebSocket (RFC 6455 §5.6), joined from its fragments and decompressed.
public enum WebSocketMessage: Sendable, Hashable {
    /// A text; on the wire it is UTF-8.
    case text(String)
    /// Bytes without a meaning to the protocol.
    case binary([UInt8])
}

extension WebSocketMessage {
    /// The size in bytes, without frames and compression.
    public var count: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}

/// The limits for received frames and messages. A peer that exceeds one is sent close code 1009.
///
/// Sizes are checked before the bytes are buffered or decompressed further. Numbers of fragments and control
/// frames need no limit: each costs the receiver constant time and adds nothing to its memory.
package struct WebSocketLimits: Sendable, Hashable {
    /// The maximum payload of one frame, in bytes as received; `nil`: ``messageBytes``.
    package var frameBytes: Int?
    /// The maximum size of a message, in bytes after decompression.
    package var messageBytes: Int
    /// The maximum ratio of decompressed to received bytes of one message.
    package var expansion: Int
    /// The number of decompressed bytes up to which the ratio is ignored.
    package var expansionFloor: Int

    /// Creates limits. Negative numbers count as 0. The defaults are those of the client's `WebSocketSettings`; change
    /// both.
    ///
    /// - Parameters:
    ///   - frameBytes: the maximum payload of one frame, in bytes. Default `nil`: `messageBytes`.
    ///   - messageBytes: the maximum size of a decompressed message, in bytes. Default 16 MiB.
    ///   - expansion: the maximum ratio of decompressed to received bytes. Default 100.
    ///   - expansionFloor: the number of bytes up to which the ratio is ignored. Default 1 MiB.
    package init(
        frameBytes: Int? = nil, messageBytes: Int = 16 << 20, expansion: Int = 100,
        expansionFloor: Int = 1 << 20
    ) {
        self.frameBytes = frameBytes
        self.messageBytes = messageBytes
        self.expansion = expansion
        self.expansionFloor = expansionFloor
    }

    /// The limits with numbers that can be calculated with: none is negative, and one can be added.
    var clamped: WebSocketLimits {
        func clamp(_ number: Int) -> Int { min(max(number, 0), .max - 1) }
        return WebSocketLimits(
            frameBytes: frameBytes.map(clamp), messageBytes: clamp(messageBytes), expansion: clamp(expansion),
            expansionFloor: clamp(expansionFloor))
    }

    /// The maximum payload of one frame. Control frames, of at most 125 bytes (RFC 6455 §5.5), do not depend on
    /// the size of messages.
    var frameLimit: Int { frameBytes ?? max(messageBytes, 125) }

    /// The maximum number of bytes that `received` compressed bytes of a message may decompress to.
    func allowance(for received: Int) -> Int {
        let (product, isHuge) = received.multipliedReportingOverflow(by: expansion)
        return min(messageBytes, isHuge ? .max : max(expansionFloor, product))
    }
}
