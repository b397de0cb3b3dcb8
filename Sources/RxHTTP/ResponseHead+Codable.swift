import FoundationEssentials
import HTTPTypes

/// Encoded as status, reason, the field lines as received, and the version.
extension ResponseHead: Codable {
    private enum CodingKeys: String, CodingKey {
        case code, reason, fieldLines, httpVersion
    }

    /// Decodes a head encoded by ``encode(to:)``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let code = try container.decode(Int.self, forKey: .code)
        guard (0...999).contains(code) else {
            throw DecodingError.dataCorruptedError(
                forKey: .code, in: container, debugDescription: "\(code) is not a status code")
        }
        let reason = try container.decode(String.self, forKey: .reason)
        let fieldLines = try container.decode(Data.self, forKey: .fieldLines)
        let version = try container.decodeIfPresent(String.self, forKey: .httpVersion)
        self.init(
            status: .init(code: code, reasonPhrase: reason), fieldLines: Array(fieldLines),
            httpVersion: version.flatMap { HTTPVersion($0) })
    }

    /// Encodes status, reason, field lines and version.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(status.code, forKey: .code)
        try container.encode(status.reasonPhrase, forKey: .reason)
        try container.encode(Data(fieldLines), forKey: .fieldLines)
        try container.encodeIfPresent(httpVersion?.description, forKey: .httpVersion)
    }
}
