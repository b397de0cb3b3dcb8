import FoundationEssentials
import RxHTTP

/// A dumped jar: JSON, so that it is readable and later versions can extend it.
struct CookieFile: Codable {
    var version = 1
    let cookies: [Cookie]

    init(_ cookies: [Cookie]) { self.cookies = cookies }

    /// - Throws: `file` if the bytes are not a dumped jar.
    init(bytes: [UInt8]) throws(NetworkError) {
        do {
            self = try JSONDecoder().decode(CookieFile.self, from: Data(bytes))
        } catch {
            throw NetworkError(.file, "the saved cookies cannot be read: the file is not a saved jar")
        }
        guard version == 1 else {
            throw NetworkError(.file, "the saved cookies cannot be read: their version \(version) is unknown")
        }
    }

    /// - Throws: `file` for a date that JSON cannot represent, which a jar with an unlimited lifetime may
    ///   contain.
    func bytes() throws(NetworkError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(self))
        } catch {
            throw NetworkError(.file, "the cookies cannot be saved: an expiry date is out of range")
        }
    }
}
