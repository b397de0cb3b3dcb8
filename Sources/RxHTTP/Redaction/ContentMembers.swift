import RxJSON

/// The named members of content: form pairs, members of a JSON object, parts of a multipart form.
struct ContentMembers {
    private var values: [String: [ArraySlice<UInt8>]] = [:]

    /// Reads content in memory; `nil` for a type without named members, and for malformed content.
    init?(_ content: [UInt8], type: String?) {
        let media = MediaType(type)
        if media.isForm {
            for item in String(decoding: content, as: UTF8.self).split(separator: "&") {
                let (name, value) = URLParts.pair(item)
                values[name, default: []].append(ArraySlice((value ?? "").utf8))
            }
        } else if media.isJSON {
            guard let document = try? JSONPart(wholeOf: content),
                let members = document.tape.members(in: content)
            else { return nil }
            for (name, value) in members { values[name, default: []].append(value) }
        } else if let form = MultipartText(content, type: type) {
            for part in form.parts { values[part.name ?? "", default: []].append(content[part.content]) }
        } else {
            return nil
        }
    }

    /// The names whose values differ from those in `others`.
    func names(besides others: ContentMembers?) -> Set<String> {
        Set(values.filter { others?.values[$0.key] != $0.value }.keys)
    }
}
