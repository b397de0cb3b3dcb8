import FoundationEssentials

/// A document that is being decoded: its bytes, its tape, and the options of the `JSONDecoder` that it stands
/// in for.
///
/// Readers return `nil` for a value that does not fit, and ``misfit(_:_:at:path:)`` then gives the reason. A
/// document gives up if the behaviour of `JSONDecoder` is uncertain; its result is then discarded, even if a
/// type has caught the error.
///
/// It reads through pointers. Places and offsets come from a tape that was made of these bytes, so they are
/// in bounds. The pointers refer to the caller's arrays during ``decode(_:at:of:options:userInfo:)``; a
/// container that is kept longer retains the document, which then has separate copies. A document belongs to
/// one call on one thread, so that nothing is read while the pointers change.
@safe final class JSONDocument {
    @exclusivity(unchecked) private(set) var bytes: UnsafePointer<UInt8>
    @exclusivity(unchecked) private var words: UnsafePointer<UInt64>
    /// The memory to free.
    private var copies: (bytes: UnsafeMutablePointer<UInt8>, words: UnsafeMutablePointer<UInt64>)?
    /// The place that stands for an absent value.
    let absent: Int
    let options: JSONDecoder
    let userInfo: [CodingUserInfoKey: any Sendable]
    /// Whether keys are converted from snake case, and the keys converted so far.
    let convertsKeys: Bool
    var names: [String: String] = [:]
    private(set) var hasGivenUp = false

    private init(
        _ bytes: UnsafePointer<UInt8>, _ words: UnsafeBufferPointer<UInt64>, _ options: JSONDecoder,
        _ userInfo: [CodingUserInfoKey: any Sendable]
    ) {
        unsafe self.bytes = bytes
        // Neither a tape nor a document that has one is ever empty.
        unsafe self.words = words.baseAddress!
        absent = words.count - 1
        self.options = options
        if case .convertFromSnakeCase = options.keyDecodingStrategy {
            convertsKeys = true
        } else {
            convertsKeys = false
        }
        self.userInfo = userInfo
    }

    deinit {
        unsafe copies?.bytes.deallocate()
        unsafe copies?.words.deallocate()
    }

    /// Decodes a value from a part of a document.
    ///
    /// - Throws: any error, if only `JSONDecoder` can determine the value or the error.
    static func decode<T: Decodable>(
        _ type: T.Type, at part: JSONPart, of bytes: [UInt8], options: JSONDecoder,
        userInfo: [CodingUserInfoKey: any Sendable]
    ) throws -> T {
        try unsafe bytes.withUnsafeBufferPointer { bytes in
            try unsafe part.tape.words.withUnsafeBufferPointer { words in
                guard let start = bytes.baseAddress else { throw JSONGivenUp() }
                var document = unsafe JSONDocument(start, words, options, userInfo)
                defer {
                    if !isKnownUniquelyReferenced(&document) { unsafe document.copy(bytes, words) }
                }
                let value = try JSONValueDecoder(document, at: part.place).decode(type)
                // A container that is kept may later be asked for something that only `JSONDecoder` can
                // determine.
                guard !document.hasGivenUp, isKnownUniquelyReferenced(&document) else { throw JSONGivenUp() }
                return value
            }
        }
    }

    private func copy(_ bytes: UnsafeBufferPointer<UInt8>, _ words: UnsafeBufferPointer<UInt64>) {
        let copies = (
            bytes: UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count),
            words: UnsafeMutableBufferPointer<UInt64>.allocate(capacity: words.count)
        )
        _ = unsafe copies.bytes.initialize(fromContentsOf: bytes)
        _ = unsafe copies.words.initialize(fromContentsOf: words)
        unsafe self.bytes = UnsafePointer(copies.bytes.baseAddress!)
        unsafe self.words = UnsafePointer(copies.words.baseAddress!)
        unsafe self.copies = (copies.bytes.baseAddress!, copies.words.baseAddress!)
    }

    /// The error for everything that only `JSONDecoder` can determine.
    func giveUp() -> any Error {
        hasGivenUp = true
        return JSONGivenUp()
    }

    // MARK: The tape

    subscript(place: Int) -> JSONWord { unsafe JSONWord(bits: words[place]) }

    func kind(at place: Int) -> JSONTape.Kind { self[place].kind }

    /// The number of elements or members of a collection.
    func count(of place: Int) -> Int { unsafe Int(truncatingIfNeeded: words[place + 1] & 0xFFFF_FFFF) }

    /// The place of an array's first element, or of an object's first key.
    func content(of place: Int) -> Int { place + 2 }

    /// The place of the value's next sibling, if it has one.
    func next(after place: Int) -> Int { self[place].next(after: place) }
}

/// Thrown if `JSONDecoder` has to decode the document.
struct JSONGivenUp: Error {}
