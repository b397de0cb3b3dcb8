#if Inspector
import Testing

@testable import RxLite

extension InspectedTests {
    /// Signals and states that wait for an inspector.
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
            #expect(sources.count == 0)
        }

        private final class Texts: Sendable {
            func text(_ number: Int) -> String { "\(number)" }
        }

        @Test func aReleasedStateKeepsNothing() {
            weak var released: Texts?
            do {
                let texts = Texts()
                released = texts
                State(1).inspected("number") { texts.text($0) }
            }
            #expect(released == nil)
        }
    }
}
#endif
