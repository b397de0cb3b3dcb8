import RxHTTP
import Testing

@Suite struct TimeoutsTests {
    @Test func theDefaults() {
        let limits = Timeouts()
        #expect(limits.queue == nil)
        #expect(limits.connect == .seconds(10))
        #expect(limits.firstByte == .seconds(60))
        #expect(limits.idle == .seconds(20))
        #expect(limits.attempt == nil)
        #expect(limits.total == nil)
    }

    /// Timeouts keep their value, to the nanosecond.
    @Test(
        arguments: [
            (nil, nil), (.zero, .nanoseconds(1)), (.seconds(-5), .nanoseconds(1)),
            (.seconds(Int64.min), .nanoseconds(1)), (.nanoseconds(1), .nanoseconds(1)),
            (Duration(secondsComponent: 1, attosecondsComponent: 1), .nanoseconds(1_000_000_001)),
            (.milliseconds(1500), .milliseconds(1500)), (.seconds(Int64.max), nil),
            (.nanoseconds(Int64.max), nil), (.nanoseconds(Int64.max - 1), .nanoseconds(Int64.max - 1)),
        ] as [(Duration?, Duration?)])
    func values(set: Duration?, kept: Duration?) {
        let paths: [WritableKeyPath<Timeouts, Duration?>] = [
            \.queue, \.connect, \.firstByte, \.idle, \.attempt, \.total,
        ]
        for path in paths {
            var limits = Timeouts(
                queue: .seconds(7), connect: .seconds(7), firstByte: .seconds(7), idle: .seconds(7),
                attempt: .seconds(7), total: .seconds(7))
            limits[keyPath: path] = set
            #expect(limits[keyPath: path] == kept)
            for other in paths where other != path { #expect(limits[keyPath: other] == .seconds(7)) }
        }
    }
}
