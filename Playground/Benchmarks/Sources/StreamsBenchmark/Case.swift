/// One measurement: the same work with RxLite and with a peer.
///
/// Both return a sum of the received values, so that missing values are noticed.
struct Case: Sendable {
    typealias Work = @Sendable (_ count: Int) async -> Int

    let name: String
    let peer: String
    /// The fraction of the count for cases that take long.
    var share = 1.0
    let ours: Work
    let theirs: Work
}

extension Case {
    static func openCombine(_ name: String, ours: @escaping Work, theirs: @escaping Work) -> Case {
        Case(name: name, peer: "OpenCombine", ours: ours, theirs: theirs)
    }

    static func asyncAlgorithms(_ name: String, ours: @escaping Work, theirs: @escaping Work) -> Case {
        Case(name: name, peer: "swift-async-algorithms", ours: ours, theirs: theirs)
    }
}
