/// The members of an object, with the behaviour of `JSONDecoder`.
struct JSONKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let decoder: JSONValueDecoder

    /// - Parameter decoder: the decoder of an object, which knows the members.
    init(_ decoder: JSONValueDecoder) { self.decoder = decoder }

    private var document: JSONDocument { decoder.document }

    var codingPath: [any CodingKey] { decoder.codingPath }

    /// In document order.
    var allKeys: [Key] {
        document.keys(of: decoder.place, decoder.members).compactMap(Key.init(stringValue:))
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
        guard let place = present(key) else { return nil }
        return try decode(type, at: place, key)
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

    // MARK: Finding values

    private func find(_ key: some CodingKey) -> Int? {
        decoder.member(key.stringValue)
    }

    private func value(_ key: Key) throws -> Int {
        if let place = find(key) { return place }
        throw DecodingError.keyNotFound(
            key,
            .init(
                codingPath: codingPath,
                debugDescription: "No value associated with key \(key) (\"\(key.stringValue)\")."))
    }

    private func present(_ key: Key) -> Int? {
        guard let place = find(key), document.kind(at: place) != .null else { return nil }
        return place
    }

    // MARK: Reading values

    @inline(__always)
    private func bool(at place: Int, _ key: Key) throws -> Bool {
        guard let value = document.bool(at: place) else { throw misfit(Bool.self, .bool, place, key) }
        return value
    }

    @inline(__always)
    private func text(at place: Int, _ key: Key) throws -> String {
        guard let value = document.text(at: place) else { throw misfit(String.self, .string, place, key) }
        return value
    }

    @inline(__always)
    private func double(at place: Int, _ key: Key) throws -> Double {
        guard let value = document.double(at: place) else { throw misfit(Double.self, .number, place, key) }
        return value
    }

    @inline(__always)
    private func float(at place: Int, _ key: Key) throws -> Float {
        guard let value = document.float(at: place) else { throw misfit(Float.self, .number, place, key) }
        return value
    }

    @inline(__always)
    private func integer<T: FixedWidthInteger>(at place: Int, _ key: Key) throws -> T {
        guard let value = document.integer(T.self, at: place) else {
            throw misfit(T.self, .number, place, key)
        }
        return value
    }

    @inline(__always)
    private func decode<T: Decodable>(_ type: T.Type, at place: Int, _ key: Key) throws -> T {
        try document.decode(type, at: place, with: decoder.child(at: place, key))
    }

    @inline(__always)
    private func misfit<T>(_ type: T.Type, _ form: JSONDocument.Form, _ place: Int, _ key: Key) -> any Error {
        document.misfit(type, form, at: place, path: decoder.codingPath + [key])
    }
}
