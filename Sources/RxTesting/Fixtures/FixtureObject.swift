/// An object in a document. A member that is `null` counts as absent.
struct FixtureObject: Sendable {
    let node: FixtureNode
    let members: [String: Int]

    subscript(name: String) -> FixtureNode? {
        guard let place = members[name] else { return nil }
        let member = FixtureNode(document: node.document, place: place)
        return member.isNull ? nil : member
    }

    func required(_ name: String) throws(FixtureError) -> FixtureNode {
        guard let member = self[name] else { throw node.error(.missing, member: name) }
        return member
    }
}
