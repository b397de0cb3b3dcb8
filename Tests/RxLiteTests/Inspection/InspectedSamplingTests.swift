import RxLite
import RxTesting
import Testing

extension InspectedTests {
    /// The records of streams that are too fast to show whole.
    @Suite(.serialized) struct Sampling {
        @Test func aFastTrackIsSampledAndCounted() {
            let watch = StreamWatch()
            let numbers = Signal<Int>()
            let subscription = numbers.observable.inspected("fast").subscribe()
            for number in 1...10_000 { numbers.send(number) }
            let lines = watch.lines()
            #expect(lines == ["fast1 begun"] + (1...StreamLog.trackLimit).map { "fast1 \($0)" })
            #expect(watch.count("fast1") == 10_000)
            numbers.send(0)
            #expect(watch.lines() == ["fast1 0"])
            subscription.cancel()
        }

        @Test func allTracksShareALimit() {
            let watch = StreamWatch()
            let numbers = Signal<Int>()
            let subscriptions = (1...20).map { _ in numbers.observable.inspected("fast").subscribe() }
            for number in 1...100 { numbers.send(number) }
            let values = watch.lines().filter { !$0.hasSuffix("begun") }
            #expect(values.count == StreamLog.valueLimit)
            for subscription in subscriptions { subscription.cancel() }
        }

        @Test func slowTextsStopUntilTheyHaveBeenPaidFor() {
            let watch = StreamWatch(textLimit: .milliseconds(2))
            let texts = Shared(0)
            let numbers = Signal<Int>()
            let subscription = numbers.observable.inspected("slow") { number in
                texts.change { $0 += 1 }
                // Longer than the share of any period.
                let end = ContinuousClock.now + .milliseconds(30)
                while ContinuousClock.now < end {}
                return "\(number)"
            }.subscribe()
            for number in 1...10 { numbers.send(number) }
            #expect(texts.value == 1)
            #expect(watch.lines() == ["slow1 begun", "slow1 1"])
            #expect(watch.count("slow1") == 10)
            subscription.cancel()
        }

        @Test func tooManySubscriptionsAreCounted() {
            let watch = StreamWatch()
            let stream = Observable<Int, Never>.just(1).inspected("many")
            for _ in 1...(StreamLog.newTrackLimit + 7) { stream.subscribe() }
            let begun = watch.lines().filter { $0.hasSuffix("begun") }
            #expect(begun.count == StreamLog.newTrackLimit)
            #expect(watch.batch?.untracked == 7)
        }

        @Test func eachWatcherGetsEverything() {
            let (one, other) = (StreamWatch(), StreamWatch())
            Observable<Int, Never>.just(1).inspected("tea").subscribe()
            #expect(one.lines() == ["tea1 begun", "tea1 1", "tea1 |"])
            #expect(one.lines().isEmpty)
            #expect(other.lines() == ["tea1 begun", "tea1 1", "tea1 |"])
            #expect(other.count("tea1") == 1)
        }

        @Test func recordsThatNobodyTakesAreCounted() {
            let watch = StreamWatch()
            let subscription = Signal<Int>().observable.inspected("tea").subscribe()
            for _ in 1...StreamLog.recordLimit {
                subscription.pause()
                subscription.resume()
            }
            #expect(watch.lines().count == StreamLog.recordLimit)
            #expect(watch.batch?.lost == StreamLog.recordLimit + 1)
            subscription.cancel()
        }

        @Test(
            arguments: [
                ("\(String(repeating: "a", count: 500))", 401), ("tea", 3),
            ] as [(String, Int)])
        func textsAreBounded(_ text: String, _ count: Int) {
            let watch = StreamWatch()
            Observable<String, Never>.just(text).inspected("tea").subscribe()
            #expect(watch.lines()[1].count == "tea1 ".count + count)
        }

        @Test func listsShowTheirFirstElements() {
            let watch = StreamWatch()
            Observable<[Int], Never>.just(Array(1...1_000_000)).inspected("list").subscribe()
            Observable<[UInt8], Never>.just([1, 2]).inspected("bytes").subscribe()
            let lines = watch.lines()
            #expect(lines.contains("list1 [1, 2, 3, … 1000000 in all]"))
            #expect(lines.contains("bytes1 2 bytes"))
        }

        @Test func theTextsOfAllListsAreBounded() {
            let watch = StreamWatch()
            let many = Dictionary(uniqueKeysWithValues: (1...100_000).map { ($0, $0) })
            Observable<[Int: Int], Never>.just(many).inspected("map").subscribe()
            Observable<[[Int]], Never>.just([Array(1...100_000)]).inspected("nested").subscribe()
            let lines = watch.lines()
            #expect(lines.contains { $0.hasPrefix("map1 [(") && $0.hasSuffix(", … 100000 in all]") })
            #expect(lines.contains("nested1 [[1, 2, 3, … 100000 in all]]"))
        }
    }
}
