public import RxHTTP

extension Parameters: RedactedDescription {
    /// The kind and the names, without the values.
    public var description: String {
        let kind =
            switch format {
            case .standard: "parameters"
            case .query: "query"
            case .json: "JSON"
            case .form: "form"
            case .text(let text): "text of \(text.utf8.count) bytes"
            case .multipart(let parts): "\(Multipart(parts, boundary: ""))"
            case .custom(let serializer): serializer.contentType
            case .body(let body, _): "body: \(body)"
            }
        var names: Set<String> = []
        if case .values(let values)? = content { names = Set(values.present.keys) }
        names = names.union(additions.keys).subtracting(removals)
        let model: [String] = if case .model(let model)? = content { ["\(type(of: model))"] } else { [] }
        let shown = model + names.sorted()
        var text = shown.isEmpty ? kind : kind + " with " + shown.joined(separator: ", ")
        if let urlQueryModel { text += ", query with \(type(of: urlQueryModel))" }
        if !urlQuery.isEmpty { text += ", query with \(urlQuery.keys.sorted().joined(separator: ", "))" }
        return text
    }

    /// Whether there are no parameters.
    package var isEmpty: Bool {
        guard case .query = format else { return false }
        return content == nil && additions.isEmpty && urlQuery.isEmpty && urlQueryModel == nil
    }
}
