extension JSONDocument {
    /// Up to this many members, keys are searched linearly.
    private static let searchLimit = 16

    /// The places of the values of an object's members, if a linear search does not suffice. The first of
    /// several members with the same key counts (RFC 8259 §4).
    ///
    /// Keys are the same if they are equal as `String`; comparing bytes suffices only if both are ASCII.
    func members(of place: Int) throws -> [String: Int]? {
        let count = count(of: place)
        guard convertsKeys || count > Self.searchLimit || kind(at: place) == .mixedObject else { return nil }
        var members: [String: Int] = [:]
        members.reserveCapacity(count)
        var key = content(of: place)
        for _ in 0..<count {
            // A key that is not valid text is an error, even if it is never read.
            guard let name = name(at: key) else { throw giveUp() }
            if members[name] == nil { members[name] = key + 1 }
            key = next(after: key + 1)
        }
        return members
    }

    /// The place of a key's value in an object whose keys are all ASCII.
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
        } ?? (name.utf8.allSatisfy { $0 < 0x80 } ? nil : equalValue(of: name, in: place))
    }

    /// The place of the value whose key is equal as text: "\u{212A}", the sign of kelvin, equals "K".
    private func equalValue(of name: String, in place: Int) -> Int? {
        var key = content(of: place)
        for _ in 0..<count(of: place) {
            if text(at: key) == name { return key + 1 }
            key = next(after: key + 1)
        }
        return nil
    }

    /// - Parameter wanted: no longer than the text at `offset`.
    @inline(__always)
    private func starts(at offset: Int, with wanted: UnsafeBufferPointer<UInt8>) -> Bool {
        let found = unsafe bytes + offset
        for index in wanted.indices where unsafe found[index] != wanted[index] { return false }
        return true
    }

    /// The keys of an object in document order, each once.
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
