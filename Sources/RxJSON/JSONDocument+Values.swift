import FoundationEssentials

extension JSONDocument {
    /// Decodes a value of any type.
    ///
    /// Scalars that fit are read directly, without their `init(from:)`. Each cast is from a type to itself.
    @inline(__always)
    func decode<T: Decodable>(
        _ type: T.Type, at place: Int, with decoder: @autoclosure () -> JSONValueDecoder
    ) throws -> T {
        if type == String.self {
            if let text = text(at: place) { return unsafe unsafeBitCast(text, to: type) }
        } else if type == [String].self {
            if let texts = array(at: place, text) { return unsafe unsafeBitCast(texts, to: type) }
        } else if type == Int.self {
            if let integer = integer(Int.self, at: place) { return unsafe unsafeBitCast(integer, to: type) }
        } else if type == Double.self {
            if let double = double(at: place) { return unsafe unsafeBitCast(double, to: type) }
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

    private func array<Element>(at place: Int, _ element: (Int) -> Element?) -> [Element]? {
        guard kind(at: place) == .array else { return nil }
        var elements: [Element] = []
        let count = count(of: place)
        elements.reserveCapacity(count)
        var next = content(of: place)
        for _ in 0..<count {
            guard let element = element(next) else { return nil }
            elements.append(element)
            next = self.next(after: next)
        }
        return elements
    }

    func bool(at place: Int) -> Bool? {
        switch kind(at: place) {
        case .true: true
        case .false: false
        default: nil
        }
    }
}
