import RxLite
import RxTesting
import Testing

extension InspectedTests {
    /// The links from a marble to what it led to.
    @Suite(.serialized) struct Causes {
        @Test func innerStreamsAreBelowTheirOuterOne() {
            let watch = StreamWatch()
            let query = Signal<String>()
            let results = query.observable.inspected("query")
                .flatMap(.latest) { word in
                    word == "t" ? .never() : Observable<String, Never>.just("\(word) leaves")
                }
                .subscribe()
            query.send("t")
            query.send("tea")
            results.cancel()
            #expect(
                watch.lines() == [
                    "query1 begun", "query1 t", "inner begun below query1 by a marble", "query1 tea",
                    "inner cancelled", "inner begun below query1 by a marble", "inner tea leaves", "inner |",
                    "query1 cancelled",
                ])
        }

        @Test func aNamedInnerStreamReplacesTheUnnamedOne() {
            let watch = StreamWatch()
            Observable<Int, Never>.just(1).inspected("outer")
                .flatMap { Observable<Int, Never>.just($0).inspected("named") }
                .subscribe()
            #expect(watch.lines().contains("named1 begun below outer1 by a marble for inner"))
        }

        @Test func valuesThatWaitKeepTheirMarble() {
            let watch = StreamWatch()
            let ends = Signal<Void>()
            Observable<Int, Never>.sequence(1...2).inspected("outer")
                .flatMap(.concat) { number in
                    ends.observable.take(1).map { number }.inspected("inner\(number)-")
                }
                .subscribe()
            #expect(watch.lines().count { $0.hasPrefix("inner2-") } == 0)
            ends.send()
            #expect(watch.lines().contains("inner2-1 begun below outer1 by a marble for inner"))
            ends.send()
        }

        @Test func aSignalIsTheOuterOneOfItsSubscribers() {
            let watch = StreamWatch()
            let taps = Signal<Int>().inspected("taps")
            let subscription = taps.observable.flatMap { Observable<Int, Never>.just($0) }.subscribe()
            taps.send(1)
            #expect(watch.lines().contains("inner begun below taps1 by a marble"))
            subscription.cancel()
        }

        @Test func theCauseReachesSourcesOnOtherSchedulersAndTasks() async {
            let watch = StreamWatch()
            let found = Log<Int>()
            let elsewhere = ActorScheduler.background()
            let source = Observable<Int, Never>.create { emitter in
                let marble = StreamCause.current?.marble ?? 0
                Task {
                    emitter.send(marble == (StreamCause.current?.marble ?? 0) ? marble : -1)
                    emitter.finish()
                }
            }
            let stream = Observable<Int, Never>.just(1).inspected("outer")
                .flatMap { _ in source.subscribe(on: elsewhere).observe(on: elsewhere) }
            for await marble in stream { found.add(marble) }
            #expect(found.entries.count == 1)
            #expect((found.entries.first ?? 0) > 0)
            _ = watch.lines()
        }

        /// Without a page, no value has a marble.
        @Test(arguments: [false, true])
        func theCauseHasThePlaceOfTheNearestNamedStream(isWatched: Bool) {
            let watch = isWatched ? StreamWatch() : nil
            StreamLog.shared.attach()
            defer { StreamLog.shared.detach() }
            let places = Log<String?>()
            let source = Observable<Int, Never>.deferred {
                places.add(StreamCause.current?.location)
                return .just(1)
            }
            source.inspected("source", fileID: "App/Shop.swift", line: 7).subscribe()
            Observable<Int, Never>.just(1).inspected("outer", fileID: "App/Search.swift", line: 9)
                .flatMap { _ in source }.subscribe()
            source.subscribe()
            source.inspected("near", fileID: "App/Tea.swift", line: 3)
                .inspected("far", fileID: "App/Shop.swift", line: 7).subscribe()
            let pots = Signal<Int>()
            let subscription = pots.observable.inspected("near", fileID: "App/Tea.swift", line: 3)
                .inspected("far", fileID: "App/Shop.swift", line: 7).flatMap { _ in source }.subscribe()
            pots.send(1)
            subscription.cancel()
            #expect(
                places.entries == [
                    "App/Shop.swift:7", "App/Search.swift:9", nil, "App/Tea.swift:3", "App/Shop.swift:7",
                ])
            _ = watch?.lines()
        }

        @Test func nothingIsTheCauseAfterTheDelivery() {
            let watch = StreamWatch()
            Observable<Int, Never>.just(1).inspected("outer").subscribe()
            #expect(StreamCause.current == nil)
            _ = watch.lines()
        }
    }
}
