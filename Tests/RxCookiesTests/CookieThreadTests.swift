import RxCookies
import TestCookies
import Testing

/// A jar from many threads at once.
@Suite struct CookieThreadTests {
    /// Used from many threads, every cookie arrives and every event is in order.
    @Test func fromManyThreads() async {
        let fixture = CookieFixture()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for round in 0..<100 {
                        try? fixture.set("n\(number)=\(round)", from: "http://a.test")
                        _ = fixture.field("http://a.test")
                    }
                }
            }
        }
        #expect(fixture.jar.cookies.count == 8)
        for number in 0..<8 {
            let own = fixture.events.filter { $0.hasPrefix("+ n\(number)=") }
            #expect(own == (0..<100).map { "+ n\(number)=\($0)" })
        }
    }
}
