extension Parameters.Values {
    /// The members without `nil` and optionals that contain `nil`.
    var present: Parameters.Members {
        var members: Parameters.Members = [:]
        members.reserveCapacity(count)
        for case (let name, let value?) in self {
            switch value {
            // The most frequent types first; these casts are fast.
            case is String, is Int, is Bool: members[name] = value
            default: if (value as? any Absentable)?.isAbsent != true { members[name] = value }
            }
        }
        return members
    }
}

/// An optional of any wrapped type.
private protocol Absentable {
    var isAbsent: Bool { get }
}

extension Optional: Absentable {
    fileprivate var isAbsent: Bool {
        switch self {
        case nil: true
        case let value?: (value as? any Absentable)?.isAbsent ?? false
        }
    }
}
