extension Client {
    /// The stages of a call as text, in order: one line for each, in three groups.
    ///
    /// ```swift
    /// print(client.pipeline(for: GoodsList(keyword: "tea")))
    /// ```
    ///
    /// - Parameters:
    ///   - endpoint: the endpoint, whose interceptors are included.
    ///   - kind: the kind of call. Default ``CallKind/request``.
    public func pipeline(for endpoint: some Endpoint, as kind: CallKind = .request) -> String {
        Pipeline.description(
            of: kind, configuration,
            configuration.options.interceptors.followed(by: endpoint.options.interceptors))
    }
}
