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

/// A document that is being decoded: its bytes, its tape, and the options of the `JSONDecoder` that it stands
/// in for.
///
/// Readers return `nil` for a value that does not fit, and ``misfit(_:_:at:path:)`` then gives the reason. A
/// document gives up if the behaviour of `JSONDecoder` is uncertain; its result is then discarded, even if a
/// type has caught the error.
///
/// It reads through pointers. Nodes and offsets come from a tape that was made of these bytes, so they are
/// in bounds. The pointers refer to the caller's arrays during ``decode(_:at:of:options:userInfo:)``; a
/// container that is kept longer retains the document, which then has separate copies. A document belongs to
/// one call on one thread, so that nothing is read while the pointers change.
@safe final class JSONDocument {
    @exclusivity(unchecked) private(set) var bytes: UnsafePointer<UInt8>
    @exclusivity(unchecked) private var words: UnsafePointer<UInt64>
    /// The memory to free.
    private var copies: (bytes: UnsafeMutablePointer<UInt8>, words: UnsafeMutablePointer<UInt64>)?
    /// The node that stands for an absent value: the last word, which the scanner appends as a `null`.
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
                let value = try JSONValueDecoder(document, at: part.node).decode(type)
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

    // MARK: - The tape

    subscript(node: Int) -> JSONWord { unsafe JSONWord(bits: words[node]) }

    func kind(at node: Int) -> JSONTape.Kind { self[node].kind }

    /// The number of elements or members of a collection; ``JSONTape`` describes the words.
    func count(of node: Int) -> Int { unsafe Int(truncatingIfNeeded: words[node + 1] & 0xFFFF_FFFF) }

    /// The node of an array's first element, or of an object's first key.
    func content(of node: Int) -> Int { node + 2 }

    /// The node of the value's next sibling, if it has one.
    func next(after node: Int) -> Int { self[node].next(after: node) }
}

/// Thrown if `JSONDecoder` has to decode the document.
struct JSONGivenUp: Error {}

extension JSONDocument {
    /// Decodes a value of any type.
    ///
    /// Scalars that fit are read directly, without their `init(from:)`. Each cast is from a type to itself.
    @inline(__always)
    func decode<T: Decodable>(
        _ type: T.Type, at node: Int, with decoder: @autoclosure () -> JSONValueDecoder
    ) throws -> T {
        if type == String.self {
            if let text = text(at: node) { return unsafe unsafeBitCast(text, to: type) }
        } else if type == [String].self {
            if let texts = array(at: node, text) { return unsafe unsafeBitCast(texts, to: type) }
        } else if type == Int.self {
            if let integer = integer(Int.self, at: node) { return unsafe unsafeBitCast(integer, to: type) }
        } else if type == Double.self {
            if let double = double(at: node) { return unsafe unsafeBitCast(double, to: type) }
        } else if type == Date.self {
            return unsafe unsafeBitCast(try date(with: decoder()), to: type)
        } else if type == Data.self {
            return unsafe unsafeBitCast(try data(with: decoder()), to: type)
        } else if type == URL.self {
            return unsafe unsafeBitCast(try url(with: decoder()), to: type)
        } else if type == Decimal.self {
            return unsafe unsafeBitCast(try decimal(with: decoder()), to: type)
        }
        return try convertsKeys ? decodeUnconverted(type, with: decoder()) : T(from: decoder())
    }

    private func array<Element>(at node: Int, _ element: (Int) -> Element?) -> [Element]? {
        guard kind(at: node) == .array else { return nil }
        var elements: [Element] = []
        let count = count(of: node)
        elements.reserveCapacity(count)
        var next = content(of: node)
        for _ in 0..<count {
            guard let element = element(next) else { return nil }
            elements.append(element)
            next = self.next(after: next)
        }
        return elements
    }

    func bool(at node: Int) -> Bool? {
        switch kind(at: node) {
        case .true: true
        case .false: false
        default: nil
        }
    }
}

/// The types that `JSONDecoder` treats specially.
extension JSONDocument {
    func date(with decoder: JSONValueDecoder) throws -> Date {
        if decoder.decodeNil() {
            throw misfit(Date.self, .string, at: decoder.node, path: decoder.codingPath)
        }
        switch options.dateDecodingStrategy {
        case .deferredToDate: return try Date(from: decoder)
        case .secondsSince1970: return Date(timeIntervalSince1970: try decoder.decode(Double.self))
        case .millisecondsSince1970:
            return Date(timeIntervalSince1970: try decoder.decode(Double.self) / 1000)
        case .iso8601:
            let text = try decoder.decode(String.self)
            guard let date = try? Date.ISO8601FormatStyle().parse(text) else { throw giveUp() }
            return date
        case .custom(let decode): return try decode(decoder)
        @unknown default: throw giveUp()
        }
    }

    func data(with decoder: JSONValueDecoder) throws -> Data {
        if decoder.decodeNil() {
            throw misfit(Data.self, .string, at: decoder.node, path: decoder.codingPath)
        }
        switch options.dataDecodingStrategy {
        case .deferredToData: return try Data(from: decoder)
        case .base64:
            guard let data = Data(base64Encoded: try decoder.decode(String.self)) else { throw giveUp() }
            return data
        case .custom(let decode): return try decode(decoder)
        @unknown default: throw giveUp()
        }
    }

    func url(with decoder: JSONValueDecoder) throws -> URL {
        if decoder.decodeNil() {
            throw misfit(URL.self, .string, at: decoder.node, path: decoder.codingPath)
        }
        guard let url = URL(string: try decoder.decode(String.self)) else { throw giveUp() }
        return url
    }

    /// For integers only. Foundation decides how other numbers become a `Decimal`.
    func decimal(with decoder: JSONValueDecoder) throws -> Decimal {
        guard kind(at: decoder.node) == .integer, let value = integer(Int64.self, at: decoder.node) else {
            throw giveUp()
        }
        return Decimal(value)
    }
}

/// The errors that types may catch and read are those of `JSONDecoder`, texts included.
extension JSONDocument {
    /// The reason why a value of the document, read as `form`, is not a `type`.
    func misfit<T>(_ type: T.Type, _ form: Form, at node: Int, path: @autoclosure () -> [any CodingKey])
        -> any Error
    {
        let kind = kind(at: node)
        if kind == .null, form != .bool {
            return DecodingError.valueNotFound(
                type,
                .init(
                    codingPath: path(),
                    debugDescription: "Cannot get value of type \(type) -- found null value instead"))
        }
        if form.has(kind) { return malformed(type, at: node) }
        // `JSONDecoder` may accept strings as numbers.
        if form == .number, kind.isString, !(T.self is any FixedWidthInteger.Type), !refusesNonConforming {
            return giveUp()
        }
        return mismatch(type, at: node, path: path())
    }

    func mismatch(_ type: Any.Type, at node: Int, path: [any CodingKey]) -> any Error {
        DecodingError.typeMismatch(
            type,
            .init(
                codingPath: path,
                debugDescription: "Expected to decode \(type) but found \(kind(at: node).name) instead."))
    }

    private func malformed<T>(_ type: T.Type, at node: Int) -> any Error {
        // An integer that certainly does not fit `type`; types that try several kinds of number get here.
        guard let integer = type as? any FixedWidthInteger.Type, let double = double(at: node),
            integer.bitWidth <= 64, !integer.holds(double)
        else { return giveUp() }
        return JSONUnrepresentable.numberIsNotRepresentableInSwift(
            parsed: literal(at: node))
    }

    private var refusesNonConforming: Bool {
        if case .throw = options.nonConformingFloatDecodingStrategy { true } else { false }
    }

    /// The form that a scalar is read from.
    enum Form {
        case bool, number, string, object

        fileprivate func has(_ kind: JSONTape.Kind) -> Bool {
            switch self {
            case .bool: kind == .true || kind == .false
            case .number: kind.isNumber
            case .string: kind.isString
            case .object: kind.isObject
            }
        }
    }
}

/// Stands for an error of Foundation that cannot be caught by its type, but may be printed: hence the names.
private enum JSONUnrepresentable: Error {
    case numberIsNotRepresentableInSwift(parsed: String)
}

extension FixedWidthInteger {
    fileprivate static func holds(_ double: Double) -> Bool { Self(exactly: double) != nil }
}

extension JSONTape.Kind {
    /// The name in errors of `JSONDecoder`. This library's own errors have ``JSONTape/words(for:in:)``.
    fileprivate var name: String {
        switch self {
        case .null: "null"
        case .true, .false: "bool"
        case .integer, .number: "number"
        case .ascii, .plain, .escaped: "a string"
        case .array: "an array"
        case .object, .mixedObject: "a dictionary"
        }
    }
}
