/// A fault and the place where it strikes. A seed chooses a list of them; the same list gives the same run.
///
/// The place is the name of something in the simulation:
///
/// | Place | Faults |
/// |---|---|
/// | `GET /cart #2`: the second such request | delays, resets, truncation, status |
/// | `cart #1`: the first subscription of that name | `cancel`, `slowReader` |
/// | `token expires #3`: the third call of ``Simulation/happens(_:)`` with that name | `event` |
/// | the name of a process | `restart` |
/// | the URL of a server | `outage` |
/// | `clock` | `clockJump` |
public struct PlacedFault: Hashable, Sendable, CustomStringConvertible {
    /// The place.
    public var place: String
    /// The fault.
    public var fault: Fault

    /// A fault at a place.
    public static func at(_ place: String, _ fault: Fault) -> PlacedFault {
        PlacedFault(place: place, fault: fault)
    }

    /// The Swift expression of the fault, for tests.
    public var description: String { ".at(\(place.debugDescription), \(fault))" }
}
