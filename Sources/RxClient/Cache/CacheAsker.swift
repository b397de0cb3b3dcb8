import HTTPTypes
import RxHTTP

/// Who asks, as far as answers must be kept apart by it.
struct CacheAsker: Sendable {
    /// What is known besides the request; empty for nobody.
    var name = ""
    /// The number of the account, if a session has it.
    var account: Int?

    /// Who asks by `request`: its own credentials count as well.
    func identity(of request: Request) -> String {
        let fields = request.headerFields
        guard !fields.isEmpty || request.digest != nil else { return name }
        var proofs = fields.filter {
            $0.name == .authorization || request.secretFields.contains($0.name)
        }.map { "\($0.name.canonicalName): \($0.value)" }
        if let digest = request.digest { proofs.append("digest \(digest.user):\(digest.password)") }
        guard !proofs.isEmpty else { return name }
        let text = proofs.sorted().joined(separator: "\n")
        return name + "/" + Digest.sha256(text.utf8)
    }
}

extension CacheAsker {
    /// The account that is logged in.
    init(_ session: Session) {
        let account = session.account
        self.account = account.number
        name = account.name
    }
}
