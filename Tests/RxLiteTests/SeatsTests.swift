import Testing

@testable import RxLite

/// Members leave in constant time, for any number and order, and the others keep their order.
@Suite struct SeatsTests {
    private final class Guest: Seated {
        let number: Int
        let moves: Shared<Int>
        var seat: Int? { didSet { moves.change { $0 += 1 } } }

        init(_ number: Int, _ moves: Shared<Int>) {
            self.number = number
            self.moves = moves
        }
    }

    @Test(arguments: ["from the first", "from the last", "at random"]) func leavingCostsTheSame(order: String)
    {
        let moves = Shared(0)
        let count = 20_000
        var seats = Seats<Guest>()
        var guests = (0..<count).map { Guest($0, moves) }
        for guest in guests { seats.append(guest) }
        if order == "from the last" { guests.reverse() }
        if order == "at random" { guests.shuffle() }
        for (left, guest) in guests.enumerated() {
            seats.remove(guest)
            seats.remove(guest)
            let rest = count - left - 1
            #expect(seats.count == rest)
            #expect(seats.seats.count <= 2 * rest + Seats<Guest>.spareSeats)
        }
        // One step to add and one to remove, and at most two for moves.
        #expect(moves.value <= 4 * count)
    }

    @Test func theRestStayInOrder() {
        let moves = Shared(0)
        var seats = Seats<Guest>()
        let guests = (0..<1000).map { Guest($0, moves) }
        for guest in guests { seats.append(guest) }
        for guest in guests where !guest.number.isMultiple(of: 7) { seats.remove(guest) }
        seats.append(Guest(1000, moves))
        var numbers: [Int] = []
        seats.forEach { numbers.append($0.number) }
        #expect(numbers == Array(stride(from: 0, to: 1000, by: 7)) + [1000])
    }

    @Test func manySubscribersOfASignalLeave() {
        let signal = Signal<Int>()
        let count = Shared(0)
        let subscriptions = (0..<20_000).map { _ in
            signal.observable.subscribe { number in count.change { $0 += number } }
        }
        signal.send(1)
        for subscription in subscriptions.dropLast(5) { subscription.cancel() }
        signal.send(100_000)
        #expect(count.value == 20_000 + 5 * 100_000)
    }
}
