public import RxHTTP
public import RxLite

extension Observable where Failure == NetworkError {
    /// Checks each value, and fails with the error that `check` throws.
    ///
    /// ```swift
    /// client.get("/goods").decode([Goods].self).validate { goods throws(NetworkError) in
    ///     if goods.isEmpty { throw NetworkError(.noContent, "nothing to sell") }
    /// }
    /// ```
    ///
    /// Endpoints do the same with ``Endpoint/validate(_:)``.
    public func validate(
        _ check: @escaping @Sendable (Element) throws(NetworkError) -> Void
    ) -> Observable {
        map { value throws(NetworkError) in
            try check(value)
            return value
        }
    }
}
