import RxLite
import RxTesting
import Testing

@Suite struct PropertyTests {
    @Test func itShowsWhatItsStateIs() {
        let state = State(1)
        let property = Property(state)
        let recorder = Recorder(property.observable, on: VirtualScheduler())
        state.value = 2
        state.update { $0 += 1 }
        #expect(property.value == 3)
        #expect(recorder.values == [1, 2, 3])
        #expect(recorder.completion == nil)
    }
}
