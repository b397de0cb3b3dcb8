/// One thing to measure: the same work by RxLite and by a peer.
///
/// Both return a sum over what arrived, so that nothing can be left out unnoticed.
struct Case: Sendable {
    typealias Work = @Sendable (_ count: Int) async -> Int

    let name: String
    let peer: String
    /// What part of the count it is run with, for what takes long.
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
