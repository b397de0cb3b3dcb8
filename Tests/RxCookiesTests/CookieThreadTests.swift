import RxCookies
import TestCookies
import Testing

/// A jar from many threads at once.
@Suite struct CookieThreadTests {
    @Test("Used from many threads, every cookie arrives and every event is in order")
    func fromManyThreads() async {
        let bench = CookieBench()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for round in 0..<100 {
                        try? bench.set("n\(number)=\(round)", from: "http://a.test")
                        _ = bench.field("http://a.test")
                    }
                }
            }
        }
        #expect(bench.jar.cookies.count == 8)
        for number in 0..<8 {
            let own = bench.events.filter { $0.hasPrefix("+ n\(number)=") }
            #expect(own == (0..<100).map { "+ n\(number)=\($0)" })
        }
    }
}
