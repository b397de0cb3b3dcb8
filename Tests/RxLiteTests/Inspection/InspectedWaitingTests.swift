#if Inspector
import Testing

@testable import RxLite

extension InspectedTests {
    /// Signals and properties that wait for an inspector.
    @Suite(.serialized) struct Waiting {
        private final class Source: NamedSource {
            let tracks: Shared<Int>
            init(_ tracks: Shared<Int>) { self.tracks = tracks }
            func beginTrack() { tracks.change { $0 += 1 } }
        }

        @Test func releasedSourcesLeaveTheList() {
            let (sources, tracks) = (NamedSources(), Shared(0))
            let kept = (0..<100).map { _ in Source(tracks) }
            for source in kept { #expect(sources.add(source)) }
            for _ in 0..<10_000 { _ = sources.add(Source(tracks)) }
            #expect((100...200).contains(sources.count))
            sources.beginTracks()
            #expect(tracks.value == kept.count)
        }

        @Test func statesFromBeforeTheInspectorTakeHalfOfTheTracks() {
            let log = StreamLog.shared
            let others = log.openTracks.count
            let states = (0..<StreamLog.openLimit).map { MutableProperty($0).inspected("state") }
            log.attach()
            defer { log.detach() }
            #expect(log.openTracks.count == StreamLog.openLimit / 2)
            #expect(log.lateUntracked == StreamLog.openLimit / 2 + others)
            let watch = StreamWatch()
            let subscription = Signal<Int>().observable.inspected("late").subscribe()
            #expect(watch.lines() == ["late1 begun"])
            subscription.cancel()
            withExtendedLifetime(states) {}
        }

        @Test func statesWithoutATrackGetOneFromTheNextInspector() {
            let log = StreamLog.shared
            let others = log.openTracks.count
            var states = (0..<StreamLog.openLimit).map { MutableProperty($0).inspected("state") }
            log.attach()
            log.detach()
            // Those that have tracks.
            states.removeFirst(StreamLog.openLimit / 2 - others)
            #expect(log.openTracks.count == others)
            log.attach()
            defer { log.detach() }
            #expect(log.openTracks.count == StreamLog.openLimit / 2)
            #expect(log.lateUntracked == 2 * others)
            withExtendedLifetime(states) {}
        }

        /// The object's own stream tells the log that it ends, when the log lets go of the object.
        @Test func theLogMayReleaseTheLastReferenceToAnInspectedStream() {
            let log = StreamLog.shared
            log.attach()
            defer { log.detach() }
            let (watcher, _) = log.beginWatching()
            do {
                let owner = Signal<Int>().inspected("owner")
                MutableProperty(1).inspected("state") { number in
                    withExtendedLifetime(owner) { "\(number)" }
                }
            }
            log.endWatching(watcher)
            #expect(!log.openTracks.contains { $0.origin.name == "owner" })
        }

        private final class Texts: Sendable {
            func text(_ number: Int) -> String { "\(number)" }
        }

        @Test func aReleasedStateKeepsNothing() {
            weak var released: Texts?
            do {
                let texts = Texts()
                released = texts
                MutableProperty(1).inspected("number") { texts.text($0) }
            }
            #expect(released == nil)
        }
    }
}
#endif
