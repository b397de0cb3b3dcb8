public import FoundationEssentials

extension JSONDecoder {
    /// A value from a document: always what `decode(_:from:)` gives, value or error, mostly sooner.
    ///
    /// The quick way only ever succeeds. What it does not take, it leaves to the decoder itself, which so decides every
    /// error. A type's `init(from:)` may therefore run twice.
    ///
    /// - Parameters:
    ///   - type: what the value is.
    ///   - bytes: the document; in UTF-8 for the quick way.
    /// - Throws: what `decode(_:from:)` throws: `DecodingError`, or the type's own.
    public func decode<T: Decodable>(_ type: T.Type, quicklyFrom bytes: [UInt8]) throws -> T {
        try decode(type, quicklyFrom: bytes, at: nil)
    }

    /// The same from a part of a document.
    ///
    /// - Parameter part: where in it the value is; `nil` for the whole.
    package func decode<T: Decodable>(
        _ type: T.Type, quicklyFrom bytes: [UInt8], at part: JSONPart?
    ) throws -> T {
        do {
            return try decodeQuickly(type, from: bytes, at: part)
        } catch {
            // Whatever it is: the decoder's own error counts.
            return try decodeSlowly(type, from: bytes, at: part)
        }
    }

    private func decodeQuickly<T: Decodable>(
        _ type: T.Type, from bytes: [UInt8], at part: JSONPart?
    ) throws -> T {
        let userInfo = userInfo
        guard hasQuickWay(userInfo) else { throw JSONGivenUp() }
        let part = try part ?? JSONPart(wholeOf: bytes)
        return try JSONDocument.decode(type, at: part, of: bytes, options: self, userInfo: userInfo)
    }

    /// Whether there is no option that only the decoder itself honours. A subclass may decode in its own way.
    func hasQuickWay(_ userInfo: [CodingUserInfoKey: any Sendable]) -> Bool {
        guard type(of: self) == JSONDecoder.self, !allowsJSON5 else { return false }
        if case .custom = keyDecodingStrategy { return false }
        // It is kept in the user info.
        return userInfo.isEmpty || !assumesTopLevelDictionary
    }

    private func decodeSlowly<T: Decodable>(_ type: T.Type, from bytes: [UInt8], at part: JSONPart?) throws
        -> T
    {
        var bytes = bytes
        if part == nil, bytes.last(where: { $0 != 0 }) == UInt8(ascii: "[") {
            // The decoder of swift-foundation 6.3 looks behind the end, and traps, where a document ends with the `[`
            // that nests too deep. With a comment in JSON5, this may be a document all the same.
            guard allowsJSON5, bytes.last != 0 else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: [], debugDescription: "The given data was not valid JSON."))
            }
            bytes.append(UInt8(ascii: "\n"))
        }
        let range = part?.literal ?? 0..<bytes.count
        return try unsafe bytes.withUnsafeBytes { bytes in
            let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
            guard let start = part.baseAddress else { return try decode(type, from: Data()) }
            // The decoder reads the bytes during the call only, and takes a copy of what outlives it.
            let data = unsafe Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: part.count, deallocator: .none)
            return try decode(type, from: data)
        }
    }
}
