import Testing

@testable import RxLite

/// Members leave in constant time, for any number and order, and the others keep their order.
@Suite struct SlotListTests {
    private final class Guest: SlotMember {
        let number: Int
        let slot = Slot()

        init(_ number: Int) { self.number = number }
    }

    @Test(arguments: ["from the first", "from the last", "at random"]) func leavingCostsTheSame(order: String)
    {
        var moves = 0
        let count = 20_000
        var slots = SlotList<Guest>()
        var guests = (0..<count).map { Guest($0) }
        for guest in guests { slots.append(guest) }
        if order == "from the last" { guests.reverse() }
        if order == "at random" { guests.shuffle() }
        for (left, guest) in guests.enumerated() {
            let before = slots.slots.count
            slots.remove(at: guest.slot)
            slots.remove(at: guest.slot)
            let rest = count - left - 1
            if slots.slots.count < before { moves += slots.slots.count }
            #expect(slots.count == rest)
            #expect(slots.slots.count <= 2 * rest + SlotList<Guest>.spareSlots)
        }
        #expect(moves <= 2 * count)
    }

    @Test func theRestStayInOrder() {
        var slots = SlotList<Guest>()
        let guests = (0..<1000).map { Guest($0) }
        for guest in guests { slots.append(guest) }
        for guest in guests where !guest.number.isMultiple(of: 7) { slots.remove(at: guest.slot) }
        slots.append(Guest(1000))
        var numbers: [Int] = []
        slots.forEach { numbers.append($0.number) }
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
