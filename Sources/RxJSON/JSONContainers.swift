/// The members of an object, with the behaviour of `JSONDecoder`.
struct JSONKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let decoder: JSONValueDecoder

    /// - Parameter decoder: the decoder of an object, which knows the members.
    init(_ decoder: JSONValueDecoder) { self.decoder = decoder }

    private var document: JSONDocument { decoder.document }

    var codingPath: [any CodingKey] { decoder.codingPath }

    /// In document order.
    var allKeys: [Key] {
        document.keys(of: decoder.node, decoder.members).compactMap(Key.init(stringValue:))
    }

    func contains(_ key: Key) -> Bool { find(key) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { document.kind(at: try value(key)) == .null }

    func decode(_: Bool.Type, forKey key: Key) throws -> Bool { try bool(at: value(key), key) }
    func decode(_: String.Type, forKey key: Key) throws -> String { try text(at: value(key), key) }
    func decode(_: Double.Type, forKey key: Key) throws -> Double { try double(at: value(key), key) }
    func decode(_: Float.Type, forKey key: Key) throws -> Float { try float(at: value(key), key) }
    func decode(_: Int.Type, forKey key: Key) throws -> Int { try integer(at: value(key), key) }
    func decode(_: Int8.Type, forKey key: Key) throws -> Int8 { try integer(at: value(key), key) }
    func decode(_: Int16.Type, forKey key: Key) throws -> Int16 { try integer(at: value(key), key) }
    func decode(_: Int32.Type, forKey key: Key) throws -> Int32 { try integer(at: value(key), key) }
    func decode(_: Int64.Type, forKey key: Key) throws -> Int64 { try integer(at: value(key), key) }
    func decode(_: Int128.Type, forKey key: Key) throws -> Int128 { try integer(at: value(key), key) }
    func decode(_: UInt.Type, forKey key: Key) throws -> UInt { try integer(at: value(key), key) }
    func decode(_: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(at: value(key), key) }
    func decode(_: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(at: value(key), key) }
    func decode(_: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(at: value(key), key) }
    func decode(_: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(at: value(key), key) }
    func decode(_: UInt128.Type, forKey key: Key) throws -> UInt128 { try integer(at: value(key), key) }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try decode(type, at: value(key), key)
    }

    func decodeIfPresent(_: Bool.Type, forKey key: Key) throws -> Bool? {
        try present(key).map { try bool(at: $0, key) }
    }
    func decodeIfPresent(_: String.Type, forKey key: Key) throws -> String? {
        try present(key).map { try text(at: $0, key) }
    }
    func decodeIfPresent(_: Double.Type, forKey key: Key) throws -> Double? {
        try present(key).map { try double(at: $0, key) }
    }
    func decodeIfPresent(_: Float.Type, forKey key: Key) throws -> Float? {
        try present(key).map { try float(at: $0, key) }
    }
    func decodeIfPresent(_: Int.Type, forKey key: Key) throws -> Int? {
        try present(key).map { try integer(at: $0, key) }
    }
    func decodeIfPresent(_: Int8.Type, forKey key: Key) throws -> Int8? {
        try present(key).map { try integer(at: $0, key) }
    }
    func decodeIfPresent(_: Int16.Type, forKey key: Key) throws -> Int16? {
        try present(key).map { try integer(at: $0, key) }
    }
    func decodeIfPresent(_: Int32.Type, forKey key: Key) throws -> Int32? {
        try present(key).map { try integer(at: $0, key) }
    }
    func decodeIfPresent(_: Int64.Type, forKey key: Key) throws -> Int64? {
        try present(key).map { try integer(at: $0, key) }
    }
    func decodeIfPresent(_: UInt.Type, forKey key: Key) throws -> UInt? {
        try present(key).map { try integer(at: $0, key) }
    }
    func decodeIfPresent(_: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try present(key).map { try integer(at: $0, key) }
    }
    func decodeIfPresent(_: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try present(key).map { try integer(at: $0, key) }
    }
    func decodeIfPresent(_: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try present(key).map { try integer(at: $0, key) }
    }
    func decodeIfPresent(_: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try present(key).map { try integer(at: $0, key) }
    }
    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let node = present(key) else { return nil }
        return try decode(type, at: node, key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try decoder.child(at: value(key), key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder.child(at: value(key), key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        decoder.child(at: find(JSONKey.super) ?? document.absent, JSONKey.super)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        decoder.child(at: find(key) ?? document.absent, key)
    }

    // MARK: - Finding values

    private func find(_ key: some CodingKey) -> Int? {
        decoder.member(key.stringValue)
    }

    private func value(_ key: Key) throws -> Int {
        if let node = find(key) { return node }
        // The text of `JSONDecoder`.
        throw DecodingError.keyNotFound(
            key,
            .init(
                codingPath: codingPath,
                debugDescription: "No value associated with key \(key) (\"\(key.stringValue)\")."))
    }

    private func present(_ key: Key) -> Int? {
        guard let node = find(key), document.kind(at: node) != .null else { return nil }
        return node
    }

    // MARK: - Reading values

    @inline(__always)
    private func bool(at node: Int, _ key: Key) throws -> Bool {
        guard let value = document.bool(at: node) else { throw misfit(Bool.self, .bool, node, key) }
        return value
    }

    @inline(__always)
    private func text(at node: Int, _ key: Key) throws -> String {
        guard let value = document.text(at: node) else { throw misfit(String.self, .string, node, key) }
        return value
    }

    @inline(__always)
    private func double(at node: Int, _ key: Key) throws -> Double {
        guard let value = document.double(at: node) else { throw misfit(Double.self, .number, node, key) }
        return value
    }

    @inline(__always)
    private func float(at node: Int, _ key: Key) throws -> Float {
        guard let value = document.float(at: node) else { throw misfit(Float.self, .number, node, key) }
        return value
    }

    @inline(__always)
    private func integer<T: FixedWidthInteger>(at node: Int, _ key: Key) throws -> T {
        guard let value = document.integer(T.self, at: node) else {
            throw misfit(T.self, .number, node, key)
        }
        return value
    }

    @inline(__always)
    private func decode<T: Decodable>(_ type: T.Type, at node: Int, _ key: Key) throws -> T {
        try document.decode(type, at: node, with: decoder.child(at: node, key))
    }

    @inline(__always)
    private func misfit<T>(_ type: T.Type, _ form: JSONDocument.Form, _ node: Int, _ key: Key) -> any Error {
        document.misfit(type, form, at: node, path: decoder.codingPath + [key])
    }
}

/// The elements of an array, in order, with the behaviour of `JSONDecoder`.
struct JSONUnkeyedContainer: UnkeyedDecodingContainer {
    private let decoder: JSONValueDecoder
    private let elements: Int
    /// The node of the next element, if there is one.
    private var node: Int
    /// The number of elements passed; it exceeds the count after an optional element past the end.
    private(set) var currentIndex = 0
    /// The decoder of the last element that needed one.
    private var element: JSONValueDecoder?

    /// - Parameter decoder: the decoder of an array.
    init(_ decoder: JSONValueDecoder) {
        self.decoder = decoder
        elements = decoder.document.count(of: decoder.node)
        node = decoder.document.content(of: decoder.node)
    }

    private var document: JSONDocument { decoder.document }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { elements }
    var isAtEnd: Bool { currentIndex >= elements }

    mutating func decodeNil() throws -> Bool {
        // `Never` is the type in the error of `JSONDecoder`.
        guard document.kind(at: try next(Never.self)) == .null else { return false }
        advance()
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try bool(at: next(type)) }
    mutating func decode(_ type: String.Type) throws -> String { try text(at: next(type)) }
    mutating func decode(_ type: Double.Type) throws -> Double { try double(at: next(type)) }
    mutating func decode(_ type: Float.Type) throws -> Float { try float(at: next(type)) }
    mutating func decode(_ type: Int.Type) throws -> Int { try integer(at: next(type)) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer(at: next(type)) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer(at: next(type)) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer(at: next(type)) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer(at: next(type)) }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try integer(at: next(type)) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try integer(at: next(type)) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(at: next(type)) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(at: next(type)) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(at: next(type)) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(at: next(type)) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(at: next(type)) }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try decode(type, at: next(type)) }

    mutating func decodeIfPresent(_: Bool.Type) throws -> Bool? { try present().map { try bool(at: $0) } }
    mutating func decodeIfPresent(_: String.Type) throws -> String? { try present().map { try text(at: $0) } }
    mutating func decodeIfPresent(_: Double.Type) throws -> Double? {
        try present().map { try double(at: $0) }
    }
    mutating func decodeIfPresent(_: Float.Type) throws -> Float? { try present().map { try float(at: $0) } }
    mutating func decodeIfPresent(_: Int.Type) throws -> Int? { try present().map { try integer(at: $0) } }
    mutating func decodeIfPresent(_: Int8.Type) throws -> Int8? { try present().map { try integer(at: $0) } }
    mutating func decodeIfPresent(_: Int16.Type) throws -> Int16? {
        try present().map { try integer(at: $0) }
    }
    mutating func decodeIfPresent(_: Int32.Type) throws -> Int32? {
        try present().map { try integer(at: $0) }
    }
    mutating func decodeIfPresent(_: Int64.Type) throws -> Int64? {
        try present().map { try integer(at: $0) }
    }
    mutating func decodeIfPresent(_: UInt.Type) throws -> UInt? { try present().map { try integer(at: $0) } }
    mutating func decodeIfPresent(_: UInt8.Type) throws -> UInt8? {
        try present().map { try integer(at: $0) }
    }
    mutating func decodeIfPresent(_: UInt16.Type) throws -> UInt16? {
        try present().map { try integer(at: $0) }
    }
    mutating func decodeIfPresent(_: UInt32.Type) throws -> UInt32? {
        try present().map { try integer(at: $0) }
    }
    mutating func decodeIfPresent(_: UInt64.Type) throws -> UInt64? {
        try present().map { try integer(at: $0) }
    }
    mutating func decodeIfPresent<T: Decodable>(_ type: T.Type) throws -> T? {
        guard let node = present() else { return nil }
        return try decode(type, at: node)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        let container = try child(at: next(KeyedDecodingContainer<Nested>.self)).container(keyedBy: type)
        advance()
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try child(at: next((any UnkeyedDecodingContainer).self)).unkeyedContainer()
        advance()
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let node = try next(
            (any Decoder).self, orThrow: "Cannot get superDecoder() -- unkeyed container is at end.")
        let decoder = child(at: node)
        advance()
        return decoder
    }

    private func child(at node: Int) -> JSONValueDecoder { decoder.child(at: node, index: currentIndex) }

    private var path: [any CodingKey] { codingPath + [JSONKey.index(currentIndex)] }

    // MARK: - Finding elements

    /// The node of the next element.
    ///
    /// - Parameters:
    ///   - type: the type that the error names if there is none, as that of `JSONDecoder` does.
    ///   - description: the text of that error, also as `JSONDecoder` has it.
    private func next<T>(
        _ type: T.Type, orThrow description: String = "Unkeyed container is at end."
    ) throws -> Int {
        guard isAtEnd else { return node }
        throw DecodingError.valueNotFound(
            type, .init(codingPath: path, debugDescription: description))
    }

    private mutating func advance() {
        if !isAtEnd { node = document.next(after: node) }
        currentIndex += 1
    }

    /// The next element unless it is `null`; `null` and the end are passed over.
    private mutating func present() -> Int? {
        if !isAtEnd, document.kind(at: node) != .null { return node }
        advance()
        return nil
    }

    // MARK: - Reading elements

    // Each advances only once it has read a value, so that another type can be tried if one does not fit.

    @inline(__always)
    private mutating func bool(at node: Int) throws -> Bool {
        guard let value = document.bool(at: node) else { throw misfit(Bool.self, .bool, node) }
        advance()
        return value
    }

    @inline(__always)
    private mutating func text(at node: Int) throws -> String {
        guard let value = document.text(at: node) else { throw misfit(String.self, .string, node) }
        advance()
        return value
    }

    @inline(__always)
    private mutating func double(at node: Int) throws -> Double {
        guard let value = document.double(at: node) else { throw misfit(Double.self, .number, node) }
        advance()
        return value
    }

    @inline(__always)
    private mutating func float(at node: Int) throws -> Float {
        guard let value = document.float(at: node) else { throw misfit(Float.self, .number, node) }
        advance()
        return value
    }

    @inline(__always)
    private mutating func integer<T: FixedWidthInteger>(at node: Int) throws -> T {
        guard let value = document.integer(T.self, at: node) else { throw misfit(T.self, .number, node) }
        advance()
        return value
    }

    @inline(__always)
    private mutating func decode<T: Decodable>(_ type: T.Type, at node: Int) throws -> T {
        let value = try document.decode(type, at: node, with: elementDecoder(at: node))
        advance()
        return value
    }

    /// Reuses one decoder for all elements, unless a type has kept it.
    private mutating func elementDecoder(at node: Int) -> JSONValueDecoder {
        if isKnownUniquelyReferenced(&element), let element {
            element.move(to: node, index: currentIndex)
            return element
        }
        let new = child(at: node)
        element = new
        return new
    }

    @inline(__always)
    private func misfit<T>(_ type: T.Type, _ form: JSONDocument.Form, _ node: Int) -> any Error {
        document.misfit(type, form, at: node, path: path)
    }
}
