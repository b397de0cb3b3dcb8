extension Client {
    /// The stages that a call goes through, in order, as text: one line for each, in three groups.
    ///
    /// ```swift
    /// print(client.pipeline(for: GoodsList(keyword: "tea")))
    /// ```
    ///
    /// - Parameters:
    ///   - endpoint: whose own interceptors are among them.
    ///   - kind: which kind of call. Default ``CallKind/request``.
    public func pipeline(for endpoint: some Endpoint, as kind: CallKind = .request) -> String {
        Pipeline.description(
            of: kind, configuration,
            configuration.options.interceptors.followed(by: endpoint.options.interceptors))
    }
}
