import RxHTTP
import RxLite
import Testing

@Suite struct WriteCoalescerTests {
    /// The timer of a discarded change does not stand in for that of the next.
    @Test func discardedChanges() {
        var saving = WriteCoalescer()
        saving.recordChange(isUrgent: false)
        let isFirstTimed = saving.needsTimer(due: .seconds(1))
        let isSecondTimed = saving.needsTimer(due: .seconds(2))
        #expect(isFirstTimed && !isSecondTimed)
        _ = saving.discardChanges()
        saving.recordChange(isUrgent: false)
        let isTimedAgain = saving.needsTimer(due: .seconds(3))
        #expect(isTimedAgain)
    }
}
