import FoundationEssentials

/// The types that `JSONDecoder` treats specially.
extension JSONDocument {
    func date(with decoder: JSONValueDecoder) throws -> Date {
        if decoder.decodeNil() {
            throw misfit(Date.self, .string, at: decoder.place, path: decoder.codingPath)
        }
        switch options.dateDecodingStrategy {
        case .deferredToDate: return try Date(from: decoder)
        case .secondsSince1970: return Date(timeIntervalSince1970: try decoder.decode(Double.self))
        case .millisecondsSince1970:
            return Date(timeIntervalSince1970: try decoder.decode(Double.self) / 1000)
        case .iso8601:
            let text = try decoder.decode(String.self)
            guard let date = try? Date.ISO8601FormatStyle().parse(text) else { throw giveUp() }
            return date
        case .custom(let decode): return try decode(decoder)
        @unknown default: throw giveUp()
        }
    }

    func data(with decoder: JSONValueDecoder) throws -> Data {
        if decoder.decodeNil() {
            throw misfit(Data.self, .string, at: decoder.place, path: decoder.codingPath)
        }
        switch options.dataDecodingStrategy {
        case .deferredToData: return try Data(from: decoder)
        case .base64:
            guard let data = Data(base64Encoded: try decoder.decode(String.self)) else { throw giveUp() }
            return data
        case .custom(let decode): return try decode(decoder)
        @unknown default: throw giveUp()
        }
    }

    func url(with decoder: JSONValueDecoder) throws -> URL {
        if decoder.decodeNil() {
            throw misfit(URL.self, .string, at: decoder.place, path: decoder.codingPath)
        }
        guard let url = URL(string: try decoder.decode(String.self)) else { throw giveUp() }
        return url
    }

    /// For integers only. Foundation decides how other numbers become a `Decimal`.
    func decimal(with decoder: JSONValueDecoder) throws -> Decimal {
        guard kind(at: decoder.place) == .integer, let value = integer(Int64.self, at: decoder.place) else {
            throw giveUp()
        }
        return Decimal(value)
    }
}
