import FoundationEssentials

/// Decodes one value of a document, with the behaviour of `JSONDecoder`; knows its coding path.
///
/// A class, so that containers, which the standard library copies for every call, are a single reference.
final class JSONValueDecoder: Decoder {
    let document: JSONDocument
    private let parent: JSONValueDecoder?
    /// The step from the parent to this value.
    private var step: Step
    private(set) var node: Int
    /// The nodes of this object's member values; `nil` if keys are searched linearly.
    private(set) var members: [String: Int]?

    enum Step {
        case root
        case key(any CodingKey)
        case index(Int)
    }

    init(_ document: JSONDocument, at node: Int, in parent: JSONValueDecoder? = nil, _ step: Step = .root) {
        self.document = document
        self.node = node
        self.parent = parent
        self.step = step
    }

    /// Moves to another element of the same array. Only for a decoder that is referenced once, not for one
    /// that a type has kept.
    func move(to node: Int, index: Int) {
        self.node = node
        step = .index(index)
        members = nil
    }

    func child(at node: Int, _ key: some CodingKey) -> JSONValueDecoder {
        JSONValueDecoder(document, at: node, in: self, .key(key))
    }

    func child(at node: Int, index: Int) -> JSONValueDecoder {
        JSONValueDecoder(document, at: node, in: self, .index(index))
    }

    var codingPath: [any CodingKey] {
        var keys: [any CodingKey] = []
        var decoder = self
        while let parent = decoder.parent {
            switch decoder.step {
            case .root: break
            case .key(let key): keys.append(key)
            case .index(let index): keys.append(JSONKey.index(index))
            }
            decoder = parent
        }
        return keys.reversed()
    }

    var userInfo: [CodingUserInfoKey: Any] { document.userInfo }

    func container<Key: CodingKey>(keyedBy _: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard document.kind(at: node).isObject else { throw misfit([String: Any].self, "keyed") }
        if members == nil { members = try document.members(of: node) }
        return KeyedDecodingContainer(JSONKeyedContainer(self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard document.kind(at: node) == .array else { throw misfit([Any].self, "unkeyed") }
        return JSONUnkeyedContainer(self)
    }

    /// The node of a key's value in this object, once it has a container.
    func member(_ name: String) -> Int? {
        if let members { members[name] } else { document.value(of: name, in: node) }
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    /// The error of `JSONDecoder` for a value that has no container of this kind, text included.
    private func misfit<T>(_ type: T.Type, _ container: String) -> any Error {
        guard document.kind(at: node) == .null else {
            return document.mismatch(type, at: node, path: codingPath)
        }
        return DecodingError.valueNotFound(
            type,
            .init(
                codingPath: codingPath,
                debugDescription: "Cannot get \(container) decoding container -- found null value instead"))
    }
}

extension JSONValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { document.kind(at: node) == .null }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard let value = document.bool(at: node) else { throw misfit(type, .bool) }
        return value
    }

    func decode(_ type: String.Type) throws -> String {
        guard let value = document.text(at: node) else { throw misfit(type, .string) }
        return value
    }

    func decode(_ type: Double.Type) throws -> Double {
        guard let value = document.double(at: node) else { throw misfit(type, .number) }
        return value
    }

    func decode(_ type: Float.Type) throws -> Float {
        guard let value = document.float(at: node) else { throw misfit(type, .number) }
        return value
    }

    func decode(_: Int.Type) throws -> Int { try integer() }
    func decode(_: Int8.Type) throws -> Int8 { try integer() }
    func decode(_: Int16.Type) throws -> Int16 { try integer() }
    func decode(_: Int32.Type) throws -> Int32 { try integer() }
    func decode(_: Int64.Type) throws -> Int64 { try integer() }
    func decode(_: Int128.Type) throws -> Int128 { try integer() }
    func decode(_: UInt.Type) throws -> UInt { try integer() }
    func decode(_: UInt8.Type) throws -> UInt8 { try integer() }
    func decode(_: UInt16.Type) throws -> UInt16 { try integer() }
    func decode(_: UInt32.Type) throws -> UInt32 { try integer() }
    func decode(_: UInt64.Type) throws -> UInt64 { try integer() }
    func decode(_: UInt128.Type) throws -> UInt128 { try integer() }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try document.decode(type, at: node, with: self)
    }

    @inline(__always)
    private func integer<T: FixedWidthInteger>() throws -> T {
        guard let value = document.integer(T.self, at: node) else { throw misfit(T.self, .number) }
        return value
    }

    private func misfit<T>(_ type: T.Type, _ form: JSONDocument.Form) -> any Error {
        document.misfit(type, form, at: node, path: codingPath)
    }
}
