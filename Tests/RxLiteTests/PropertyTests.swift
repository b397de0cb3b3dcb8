import RxLite
import RxTesting
import Testing

@Suite struct PropertyTests {
    @Test func itShowsWhatItsStateIs() {
        let state = MutableProperty(1)
        let property = Property(state)
        let recorder = Recorder(property.observable, on: VirtualScheduler())
        state.value = 2
        state.update { $0 += 1 }
        #expect(property.value == 3)
        #expect(recorder.values == [1, 2, 3])
        #expect(recorder.completion == nil)
    }

    @Test func aMappedPropertyHasACurrentValueToo() {
        let state = MutableProperty(1)
        let text = state.map { $0 * 10 }.map { "<\($0)>" }
        let recorder = Recorder(text.observable, on: VirtualScheduler())
        state.value = 2
        #expect(text.value == "<20>")
        #expect(recorder.values == ["<10>", "<20>"])
        state.value = 3
        #expect(text.value == "<30>")
    }

    @Test func aMappedPropertyRunsItsClosureOnlyWhenAsked() {
        let calls = Shared(0)
        let property = Property(MutableProperty(1)).map { number in
            calls.change { $0 += 1 }
            return number
        }
        #expect(calls.value == 0)
        #expect(property.value == 1)
        #expect(calls.value == 1)
    }

    @Test func aMappedPropertyKeepsItsState() {
        let count = LiveCount()
        var property: Property<Int>? = MutableProperty(Counted(count)).map { _ in 1 }
        #expect(count.alive == 1)
        #expect(property?.value == 1)
        property = nil
        #expect(count.alive == 0)
    }
}
