extension JSONDocument {
    /// Up to this many members keys are looked for one by one.
    private static let searchLimit = 16

    /// Where the values of an object's members are, if looking for them one by one will not do. Of a key that stands
    /// twice (RFC 8259 §4) the first counts.
    ///
    /// Keys are the same if they are equal as `String`, which bytes tell only where both are ASCII.
    func members(of place: Int) throws -> [String: Int]? {
        let count = count(of: place)
        guard convertsKeys || count > Self.searchLimit || kind(at: place) == .mixedObject else { return nil }
        var members: [String: Int] = [:]
        members.reserveCapacity(count)
        var key = content(of: place)
        for _ in 0..<count {
            // A key that is no text is an error, even if nobody asks for it.
            guard let name = name(at: key) else { throw giveUp() }
            if members[name] == nil { members[name] = key + 1 }
            key = next(after: key + 1)
        }
        return members
    }

    /// Where the value of a key is in an object whose keys are all ASCII.
    func value(of name: String, in place: Int) -> Int? {
        var name = name
        return name.withUTF8 { wanted in
            var key = content(of: place)
            for _ in 0..<count(of: place) {
                let word = self[key]
                if word.length == wanted.count, unsafe starts(at: word.offset, with: wanted) {
                    return key + 1
                }
                key = next(after: key + 1)
            }
            return nil
        }
    }

    /// - Parameter wanted: no longer than what stands there.
    @inline(__always)
    private func starts(at offset: Int, with wanted: UnsafeBufferPointer<UInt8>) -> Bool {
        let found = unsafe bytes + offset
        for index in wanted.indices where unsafe found[index] != wanted[index] { return false }
        return true
    }

    /// The keys of an object in the order of the document, each once.
    func keys(of place: Int, _ members: [String: Int]?) -> [String] {
        var keys: [String] = []
        var key = content(of: place)
        for _ in 0..<count(of: place) {
            if let name = name(at: key), (members.map { $0[name] } ?? value(of: name, in: place)) == key + 1 {
                keys.append(name)
            }
            key = next(after: key + 1)
        }
        return keys
    }
}
