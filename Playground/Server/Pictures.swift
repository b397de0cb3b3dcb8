import FlyingFox
import Foundation

/// An uploaded picture.
struct Picture: Encodable {
    var fileName: String
    var contentType: String
    var bytes: Int
}

extension Picture {
    /// The file of a form, received no faster than `bytesPerSecond`.
    static func uploaded(by request: HTTPRequest, bytesPerSecond: Int) async throws -> Picture {
        guard
            let boundary = request.headers[.contentType]?.firstMatch(
                of: #/^multipart/form-data;.*boundary="?([^"]+)"?/#)
        else { throw Refusal.invalid("a picture must be sent as multipart/form-data") }
        let clock = ContinuousClock()
        let start = clock.now
        var form = Data()
        for try await chunk in request.bodySequence {
            form += chunk
            guard form.count <= 64 << 20 else { throw Refusal.invalid("the form is larger than 64 MiB") }
            // Not for every chunk, because a sleep takes at least a millisecond.
            let due = start + .seconds(Double(form.count) / Double(bytesPerSecond))
            if due > clock.now + .milliseconds(10) { try await clock.sleep(until: due) }
        }
        guard let picture = Picture(form: form, boundary: String(boundary.1)) else {
            throw Refusal.invalid("the form has no file")
        }
        return picture
    }

    /// The first part with a file name (RFC 7578 §4).
    private init?(form: Data, boundary: String) {
        var rest = form[...]
        let delimiter = Data("\r\n--\(boundary)".utf8)
        // No line end precedes the first delimiter.
        guard rest.starts(with: delimiter.dropFirst(2)) else { return nil }
        rest = rest.dropFirst(delimiter.count - 2)
        while let end = rest.range(of: delimiter) {
            let part = rest[..<end.lowerBound]
            rest = rest[end.upperBound...]
            guard let gap = part.range(of: Data("\r\n\r\n".utf8)) else { return nil }
            let head = String(decoding: part[..<gap.lowerBound], as: UTF8.self)
            guard let name = head.firstMatch(of: #/filename="([^"]*)"/#) else { continue }
            fileName = String(name.1)
            contentType = head.firstMatch(of: #/(?i)content-type: *([^\r\n]+)/#).map { String($0.1) } ?? ""
            bytes = part[gap.upperBound...].count
            return
        }
        return nil
    }
}
