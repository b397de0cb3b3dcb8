/// A member of ``Seats``.
@usableFromInline
protocol Seated: AnyObject {
    /// Where it is, if it is there.
    var seat: Int? { get set }
}

/// Members in the order of their arrival, who leave in constant time: a seat stays empty until as many seats are empty
/// as are taken, then all move up.
@usableFromInline
struct Seats<Member: Seated> {
    /// Fewer empty seats than this do not matter.
    @inlinable static var spareSeats: Int { 16 }

    /// Those who are there, in order, and empty seats.
    @usableFromInline var seats: [Member?] = []
    @usableFromInline var emptyCount = 0

    @inlinable
    init() {}

    @inlinable var count: Int { seats.count - emptyCount }

    @usableFromInline
    mutating func append(_ member: Member) {
        member.seat = seats.count
        seats.append(member)
    }

    /// Removes a member. Does nothing if it is not there.
    @usableFromInline
    mutating func remove(_ member: Member) {
        guard let seat = member.seat else { return }
        member.seat = nil
        seats[seat] = nil
        emptyCount += 1
        if emptyCount > Self.spareSeats && emptyCount * 2 > seats.count { moveUp() }
    }

    private mutating func moveUp() {
        seats.removeAll { $0 == nil }
        for index in seats.indices { seats[index]?.seat = index }
        emptyCount = 0
    }

    @usableFromInline
    func forEach(_ body: (Member) -> Void) {
        for case let member? in seats { body(member) }
    }
}
