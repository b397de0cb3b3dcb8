extension Parameters.Values {
    /// Those that are there: neither `nil`, nor an optional that is.
    var present: Parameters.Members {
        var members: Parameters.Members = [:]
        members.reserveCapacity(count)
        for case (let name, let value?) in self {
            switch value {
            // As most are; these casts take no search.
            case is String, is Int, is Bool: members[name] = value
            default: if (value as? any Absentable)?.isAbsent != true { members[name] = value }
            }
        }
        return members
    }
}

/// An optional, whatever it wraps.
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
