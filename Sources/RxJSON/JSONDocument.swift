import FoundationEssentials

/// A document that is being decoded: its bytes, what stands where in them, and the options of the `JSONDecoder` that it
/// is decoded in place of.
///
/// Readers give `nil` for what does not fit, and ``misfit(_:_:at:path:)`` then tells why. A document gives up where it
/// cannot tell for certain what `JSONDecoder` would do; whatever has come out then does not count, even if a type has
/// caught the error.
///
/// It reads through pointers. Places and offsets are those of a tape that was made of these bytes, which are in bounds.
/// The pointers are to the caller's arrays during ``decode(_:at:of:options:userInfo:)``; whoever keeps a container
/// longer holds the document, which then has copies of its own. It belongs to one call, on one thread, so that nothing
/// is read while the pointers change.
@safe final class JSONDocument {
    @exclusivity(unchecked) private(set) var bytes: UnsafePointer<UInt8>
    @exclusivity(unchecked) private var words: UnsafePointer<UInt64>
    /// What is to be freed.
    private var copies: (bytes: UnsafeMutablePointer<UInt8>, words: UnsafeMutablePointer<UInt64>)?
    /// The place of a value that is not there.
    let absent: Int
    let options: JSONDecoder
    let userInfo: [CodingUserInfoKey: any Sendable]
    /// Whether keys are converted from snake case, and those that were.
    let convertsKeys: Bool
    var names: [String: String] = [:]
    private(set) var hasGivenUp = false

    private init(
        _ bytes: UnsafePointer<UInt8>, _ words: UnsafeBufferPointer<UInt64>, _ options: JSONDecoder,
        _ userInfo: [CodingUserInfoKey: any Sendable]
    ) {
        unsafe self.bytes = bytes
        // A tape is never empty, nor is a document that has one.
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

    /// A value from a part of a document.
    ///
    /// - Throws: some error, if only `JSONDecoder` can tell what is right, or what is wrong.
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
                // A container that is kept may be asked later for what only `JSONDecoder` can tell.
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

    /// The error for what only `JSONDecoder` can tell.
    func giveUp() -> any Error {
        hasGivenUp = true
        return JSONGivenUp()
    }

    // MARK: The tape

    subscript(place: Int) -> JSONWord { unsafe JSONWord(bits: words[place]) }

    func kind(at place: Int) -> JSONTape.Kind { self[place].kind }

    /// How many elements or members a collection has.
    func count(of place: Int) -> Int { unsafe Int(truncatingIfNeeded: words[place + 1] & 0xFFFF_FFFF) }

    /// Where the first element of an array, or the first member's key of an object, is.
    func content(of place: Int) -> Int { place + 2 }

    /// Where the value's next neighbour is, if it has one.
    func next(after place: Int) -> Int { self[place].next(after: place) }
}

/// Says that `JSONDecoder` has to decode the document.
struct JSONGivenUp: Error {}
