/// A member of ``Seats``.
@usableFromInline
protocol Seated: AnyObject {
    /// The index of its seat, if it has one.
    var seat: Int? { get set }
}

/// Members in order of arrival, which can leave in constant time: a seat stays empty until half of the seats
/// are empty, then the remaining members move up.
@usableFromInline
struct Seats<Member: Seated> {
    /// Up to this many empty seats are kept in any case.
    @inlinable static var spareSeats: Int { 16 }

    /// The members in order, and empty seats.
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

    /// Removes a member. Does nothing if it has no seat.
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
