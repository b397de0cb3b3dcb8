public import FoundationEssentials

extension JSONDecoder {
    /// Decodes a value from a document. The outcome, value or error, is always that of `decode(_:from:)`, in
    /// most cases sooner.
    ///
    /// The quick path only ever succeeds. Everything that it does not handle is left to the decoder, which
    /// therefore decides every error. A type's `init(from:)` may run twice as a result.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - bytes: the document; the quick path requires UTF-8.
    /// - Throws: the errors of `decode(_:from:)`: `DecodingError`, or the type's errors.
    public func decode<T: Decodable>(_ type: T.Type, quicklyFrom bytes: [UInt8]) throws -> T {
        try decode(type, quicklyFrom: bytes, at: nil)
    }

    /// Decodes a value from a part of a document in the same way.
    ///
    /// - Parameter part: the position of the value; `nil` for the whole document.
    package func decode<T: Decodable>(
        _ type: T.Type, quicklyFrom bytes: [UInt8], at part: JSONPart?
    ) throws -> T {
        do {
            return try decodeQuickly(type, from: bytes, at: part)
        } catch {
            // Whatever the error is, the decoder's error counts.
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

    /// Whether no option is set that only the decoder supports. A subclass may decode differently.
    func hasQuickWay(_ userInfo: [CodingUserInfoKey: any Sendable]) -> Bool {
        guard type(of: self) == JSONDecoder.self, !allowsJSON5 else { return false }
        if case .custom = keyDecodingStrategy { return false }
        // `assumesTopLevelDictionary` is stored in the user info.
        return userInfo.isEmpty || !assumesTopLevelDictionary
    }

    private func decodeSlowly<T: Decodable>(_ type: T.Type, from bytes: [UInt8], at part: JSONPart?) throws
        -> T
    {
        var bytes = bytes
        if part == nil, bytes.last(where: { $0 != 0 }) == UInt8(ascii: "[") {
            // The decoder of swift-foundation 6.3 reads past the end, and traps, if a document ends with the
            // `[` that exceeds the nesting limit. In JSON5 the `[` may be part of a comment, and the document
            // valid.
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
            // The decoder reads the bytes only during the call, and copies whatever outlives it.
            let data = unsafe Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: part.count, deallocator: .none)
            return try decode(type, from: data)
        }
    }
}
