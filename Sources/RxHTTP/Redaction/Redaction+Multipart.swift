import HTTPTypes

extension Redaction {
    /// Multipart content with the values of secret fields, secret members in its parts, and parts that are multipart
    /// themselves, replaced; `nil` if it is not multipart.
    func shown(multipart content: [UInt8], type: String?) -> [UInt8]? {
        guard let form = MultipartText(content, type: type) else { return nil }
        var output: [UInt8] = []
        output.reserveCapacity(content.count)
        var place = 0
        for part in form.parts {
            output += content[place..<part.head.lowerBound]
            output += shown(head: content[part.head])
            output += content[part.head.upperBound..<part.content.lowerBound]
            if part.name.map({ hides($0) }) == true || MediaType(part.type).isMultipart {
                output += Array(Self.mark.utf8)
            } else {
                output += shown(Array(content[part.content]), type: part.type)
            }
            place = part.content.upperBound
        }
        return output + content[place...]
    }

    private func shown(head: ArraySlice<UInt8>) -> [UInt8] {
        let lines = String(decoding: head, as: UTF8.self).split(
            separator: "\r\n", omittingEmptySubsequences: false)
        let shown = lines.map { line -> String in
            guard let colon = line.firstIndex(of: ":"), let name = HTTPField.Name(String(line[..<colon])),
                hides(name)
            else { return String(line) }
            return "\(line[..<colon]): \(Self.mark)"
        }
        return Array(shown.joined(separator: "\r\n").utf8)
    }
}
