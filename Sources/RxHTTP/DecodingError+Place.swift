extension DecodingError {
    /// The path where decoding failed, empty for the top of the document, and the description of the failure.
    package var place: (path: String, description: String) {
        let (context, missing): (Context, [any CodingKey]) =
            switch self {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
                (context, [])
            case .keyNotFound(let key, let context): (context, [key])
            @unknown default: (Context(codingPath: [], debugDescription: "\(self)"), [])
            }
        return ((context.codingPath + missing).text(or: ""), context.debugDescription)
    }
}

extension [any CodingKey] {
    /// The path as text, such as `data.goods[3].price`; `empty` if the path is empty.
    package func text(or empty: String) -> String {
        guard !isEmpty else { return empty }
        return reduce("") { path, key in
            if let index = key.intValue { return "\(path)[\(index)]" }
            return path.isEmpty ? key.stringValue : "\(path).\(key.stringValue)"
        }
    }
}
