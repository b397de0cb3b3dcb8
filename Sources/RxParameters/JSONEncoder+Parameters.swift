import FoundationEssentials
import RxHTTP

extension JSONEncoder {
    /// Encodes `model`; throws `invalidParameters`, which names the value that cannot be encoded.
    func data(of model: some Encodable) throws(NetworkError) -> Data {
        do {
            return try encode(model)
        } catch EncodingError.invalidValue(_, let context) {
            throw .unencodable(context)
        } catch {
            throw NetworkError(.invalidParameters, "the parameters cannot be encoded: \(error)")
        }
    }

    /// Encodes `model` as a tree.
    func tree(of model: some Encodable) throws(NetworkError) -> JSONValue {
        guard let tree = JSONValue(parsing: Array(try data(of: model))) else {
            throw NetworkError(.invalidParameters, "the parameters are nested too deeply, or too large")
        }
        return tree
    }

    /// Encodes the values of a dictionary as trees, with unchanged keys.
    func trees(of values: [String: ParameterValue]) throws(NetworkError) -> [String: JSONValue] {
        var trees = values.compactMapValues(\.scalar)
        guard trees.count < values.count else { return trees }
        let others = values.filter { trees[$0.key] == nil }
        if case .object(let rest) = try tree(of: others) { trees.merge(rest) { $1 } }
        return trees
    }
}

extension NetworkError {
    /// An error that names the place and not the value, which may be, or contain, a secret.
    static func unencodable(_ context: EncodingError.Context) -> NetworkError {
        NetworkError(
            .invalidParameters,
            "the value at \(context.codingPath.text(or: "the top level")) cannot be encoded: "
                + context.debugDescription)
    }
}
