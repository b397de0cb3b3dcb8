import RxLite
import RxTesting
import Testing

/// One at a time, because there is one log for the process.
@Suite(.serialized) struct InspectedTests {
    @Test func everyEventOfASubscriptionIsRecorded() {
        let watch = StreamWatch()
        let stream = Observable<Int, Lost>.sequence([1, 2]).inspected("tea")
        stream.subscribe()
        #expect(watch.lines() == ["tea1 begun", "tea1 1", "tea1 2", "tea1 |"])
        Observable<Int, Lost>.fail(Lost()).inspected("tea").subscribe()
        stream.take(1).subscribe()
        #expect(
            watch.lines() == ["tea1 begun", "tea1 #lost", "tea2 begun", "tea2 1", "tea2 cancelled"])
    }

    @Test func theEventsAreUnchanged() throws {
        let watch = StreamWatch()
        try MarbleCase("inspected", "-a-b-#") { try $0.cold("-a-b-#").inspected("tea") }.check()
        #expect(watch.lines() == ["tea1 begun", "tea1 a", "tea1 b", "tea1 #lost"])
    }

    @Test func theContractIsKeptWithAnInspector() async {
        let watch = StreamWatch()
        let violations = await ContractChecker.violations { source, _ in source.inspected("tea") }
        #expect(violations.isEmpty)
        let flattened = await ContractChecker.violations { source, clock in
            source.inspected("outer").flatMap(.merge(limit: 2)) { element in
                .just(element).delay(.seconds(1), on: clock).inspected("inner")
            }
        }
        #expect(flattened.isEmpty)
        _ = watch.lines()
    }

    @Test func pausesAreRecorded() {
        let watch = StreamWatch()
        let numbers = Signal<Int>()
        let subscription = numbers.observable.inspected("tea").subscribe()
        subscription.pause()
        subscription.pause()
        subscription.resume()
        #expect(watch.lines() == ["tea1 begun", "tea1 paused"])
        subscription.resume()
        subscription.cancel()
        #expect(watch.lines() == ["tea1 resumed", "tea1 cancelled"])
    }

    @Test func signalsStatesAndPropertiesNeedNoSubscriber() {
        let watch = StreamWatch()
        do {
            let reload = Signal<Int>().inspected("reload")
            reload.send(1)
            let cart = MutableProperty(["tea"]).inspected("cart") { "\($0.count) goods" }
            cart.value = ["tea", "cup"]
            Property(MutableProperty(true)).inspected("online")
            MutableProperty(1).map { $0 * 10 }.inspected("tens")
        }
        #expect(
            watch.lines() == [
                "reload1 begun", "reload1 1", "cart1 begun", "cart1 1 goods", "cart1 2 goods",
                "online1 begun", "online1 true", "online1 released", "tens1 begun", "tens1 10",
                "tens1 released", "cart1 released", "reload1 released",
            ])
    }

    @Test func subscriptionsFromBeforeTheInspectorAreNotFollowed() {
        let numbers = Signal<Int>()
        numbers.observable.inspected("early").subscribe()
        let watch = StreamWatch()
        numbers.send(1)
        #expect(watch.lines().isEmpty)
    }

    #if Inspector
    @Test func signalsAndStatesFromBeforeTheInspectorAreFollowed() {
        let numbers = Signal<Int>().inspected("early")
        let count = MutableProperty(1).inspected("count")
        numbers.send(1)
        count.value = 2
        StreamLog.shared.attach()
        defer { StreamLog.shared.detach() }
        let watch = StreamWatch()
        numbers.send(3)
        count.value = 4
        #expect(watch.lines() == ["early1 3", "count1 4"])
        #expect(StreamLog.shared.openTracks.map { $0.current }.contains("4"))
    }
    #endif

    @Test func valuesBecomeTextOnlyWhileSomebodyWatches() {
        let log = StreamLog.shared
        log.attach()
        defer { log.detach() }
        let texts = Shared(0)
        let numbers = Signal<Int>()
        let subscription = numbers.observable.inspected("tea") { number in
            texts.change { $0 += 1 }
            return "\(number)"
        }.subscribe()
        numbers.send(1)
        #expect(texts.value == 0)
        let watch = StreamWatch()
        numbers.send(2)
        #expect(texts.value == 1)
        #expect(watch.lines() == ["tea1 2"])
        #expect(watch.count("tea1") == 2)
        subscription.cancel()
    }

    @Test func aStateTellsItsCurrentValueToLateWatchers() {
        let log = StreamLog.shared
        log.attach()
        defer { log.detach() }
        let count = MutableProperty(0).inspected("count")
        count.value = 7
        let track = log.openTracks.first { $0.origin.name == "count" }
        #expect(track?.current == "7")
    }
}
