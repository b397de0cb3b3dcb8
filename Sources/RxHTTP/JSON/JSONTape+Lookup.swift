import FoundationEssentials

extension JSONTape {
    /// Where the values are that `paths` lead to, outermost key first; `nil` for those that are not there. Of a key
    /// that stands twice in an object the first counts, as for `JSONDecoder`.
    ///
    /// - Parameter bytes: the document.
    package func values(at paths: [[String]], in bytes: [UInt8]) -> [Int?] {
        paths.map { path in
            path.reduce(Self.root) { place, key in place.flatMap { value(of: key, in: $0, bytes) } }
        }
    }

    private func value(of name: String, in place: Int, _ bytes: [UInt8]) -> Int? {
        guard kind(at: place).isObject else { return nil }
        var key = place + 2
        // The link leads behind the last member.
        while key < self[place].length {
            if isKey(key, name, bytes) { return key + 1 }
            key = self[key + 1].next(after: key + 1)
        }
        return nil
    }

    private func isKey(_ place: Int, _ name: String, _ bytes: [UInt8]) -> Bool {
        let word = self[place]
        if word.length == name.utf8.count,
            bytes[word.offset..<word.offset + word.length].elementsEqual(name.utf8)
        {
            return word.kind != .escaped
        }
        // Texts may be equal though their bytes are not.
        guard word.kind != .ascii else { return false }
        let text = try? JSONDecoder().decode(String.self, quicklyFrom: bytes, at: JSONPart(self, at: place))
        return text == name
    }
}
