import RxNetworking
import RxTesting

func events() {
    Observable<Int, Never>.sequence([1, 2, 3]).subscribe(
        onNext: { value in print(value) },
        onFinish: { print("end") })

    let numbers = Signal<Int>()
    numbers.subscribe { number in
        if number < 3 { numbers.send(number + 1) }
        print(number)
    }
    numbers.send(1)  // prints 1, 2, 3
}

func coldAndHot(compute: @escaping @Sendable () -> Int) {
    let answer = Observable<Int, Never>.deferred { .just(compute()) }.share(replay: 1, reset: [])
    answer.subscribe { first in print(first) }
    answer.subscribe { second in print(second) }  // the same run: compute() was called once
}

func endingAndCancelling() {
    let ticks = Signal<Void>()
    let subscription = ticks.subscribe { print("tick") }
    ticks.send()
    subscription.cancel()
    ticks.send()  // not delivered

    Observable<Int, Never>.sequence(1...).take(3).subscribe { print($0) }
}

struct PortError: Error {
    var text: String
}

func errors() {
    let ports = Observable<String, PortError>.sequence(["80", "http"]).map { text throws(PortError) in
        guard let port = Int(text) else { throw PortError(text: text) }
        return port
    }
    ports.subscribe(onNext: { print($0) }, onFailure: { error in print("not a port:", error.text) })

    UnhandledFailure.handler = { failure in print("unhandled:", failure) }
}

func backpressure() async {
    let lines = Signal<String>()
    let reading =
        lines
        .flatMap(.concat) { line in Observable<Character, Never>.sequence(line) }
        .subscribe { print($0) }
    reading.pause()
    lines.send("tea")  // nothing is taken from the sequence
    reading.resume()  // prints t, e, a

    for await number in Observable<Int, Never>.sequence(1...) {
        if number == 1000 { break }
    }
}

final class Sensor: Sendable {
    private let handler: @Sendable (Double) -> Void
    init(_ handler: @escaping @Sendable (Double) -> Void) { self.handler = handler }
    func stop() { handler(0) }
}

func scopes(clock: any Scheduler) -> [Any] {
    let temperatures = Observable<Double, Never>.create { emitter in
        let sensor = Sensor { celsius in emitter.send(celsius) }
        emitter.onClose { sensor.stop() }
    }

    let countdown = Observable<Int, Never>(scheduler: clock) { observer in
        let timers = (0...3).map { second in
            clock.schedule(after: .seconds(second)) {
                observer.scope.enter { second < 3 ? observer.next(3 - second) : observer.finish() }
            }
        }
        observer.scope.onClose { for timer in timers { timer.cancel() } }
    }
    return [temperatures, countdown]
}

func depth() {
    @Sendable func count(from number: Int) -> Observable<Int, Never> {
        Observable.just(number).flatMap { number in
            number < 100_000 ? count(from: number + 1) : .just(number)
        }
    }
    count(from: 0).subscribe { print($0) }
}

func proof() async -> Bool {
    let violations = await ContractChecker.violations { source, clock in
        source.delay(.seconds(1), on: clock).take(2)
    }
    return violations.isEmpty
}

actor Meter {
    private var count = 0
    func set(_ count: Int) { self.count = count }
}

func changingPlaces(meter: Meter, show: @escaping @MainActor @Sendable (String) -> Void) async throws {
    let counts = MutableProperty(0)
    counts
        .map { count in "\(count) requests" }  // on the thread that changes the property
        .observe(on: ActorScheduler.main, buffering: .latest(1))
        .map { text in text.uppercased() }  // on the main actor
        .subscribe(isolatedTo: MainActor.self) { text in show(text) }

    counts.subscribe(isolatedTo: meter) { meter, count in meter.set(count) }

    let newest = try await counts.observable.value()
    for await count in counts.values(buffering: .latest(1)) {
        if count == newest { break }
    }
}

@MainActor func awaitOnTheMainActor(_ names: Observable<String, Never>) async throws -> String? {
    let long = try await names.filter { name in name.count > 3 }.value()  // throws if there is none
    let found = await names.first { @Sendable name in name.count > 3 }  // nil if there is none
    return found ?? long
}

func doors() async {
    let progress = Signal<Int>()
    progress.subscribe { percent in print(percent) }
    await withTaskGroup(of: Void.self) { group in
        for percent in [25, 50, 75] {
            group.addTask { progress.send(percent) }
        }
    }
}

func cancellingFromOtherThreads() {
    let loading = Observable<Int, Never>.never().observe(on: ActorScheduler.main).subscribe { print($0) }
    ActorScheduler.main.schedule {
        loading.cancel()
        print("no callback runs or will run")
    }
}
