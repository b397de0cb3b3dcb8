#if Fleet
import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The time of a file store: that since the machine was started, which all of its processes share and nobody can set.
struct StoreClock: Sendable {
    /// The time since the start of the machine, including the time in which it was suspended.
    var now: @Sendable () -> Duration
    /// The time since 1970, which is used only to carry times over to the next start of the machine.
    var wall: @Sendable () -> Duration
    /// Identifies the start of the machine. All processes must have the same text: one with another text ends the
    /// leases of the others and removes their messages; see ``StoreTable/begin(_:)``.
    var boot: String
    /// Whether a test moves the time. Then a store wakes only when it is told to.
    var isSteered = false

    /// The clock of the system.
    static let system = StoreClock(
        now: {
            #if canImport(Glibc)
            reading(of: CLOCK_BOOTTIME)
            #else
            // Includes the time in which the machine was suspended.
            reading(of: CLOCK_MONOTONIC)
            #endif
        }, wall: { reading(of: CLOCK_REALTIME) }, boot: bootID())

    private static func reading(of clock: clockid_t) -> Duration {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    /// The kernel's random number for this start: `boot_id` of Linux (proc_sys_kernel(5)), `kern.bootsessionuuid` of Darwin.
    /// Without one, the time of the start in minutes, which processes may round differently, above all if the date is set.
    private static func bootID() -> String {
        #if canImport(Glibc)
        if let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8) {
            return String(text.prefix { $0 != "\n" })
        }
        let start = reading(of: CLOCK_REALTIME) - reading(of: CLOCK_BOOTTIME)
        #elseif canImport(Darwin)
        // A UUID as text, with a zero at the end: 37 bytes.
        var text = [UInt8](repeating: 0, count: 64)
        var count = text.count
        if unsafe sysctlbyname("kern.bootsessionuuid", &text, &count, nil, 0) == 0, count > 1 {
            return String(decoding: text.prefix(count).prefix { $0 != 0 }, as: UTF8.self)
        }
        let start = reading(of: CLOCK_REALTIME) - reading(of: CLOCK_MONOTONIC)
        #endif
        return "minute \(Int64(start / .seconds(60)))"
    }
}

extension Duration {
    /// The time in nanoseconds, as the database has it: rounded up, and at most 292 years.
    var storedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let limit = Int64.max / 1_000_000_000 - 1
        guard abs(seconds) < limit else { return seconds < 0 ? Int64.min + 1 : Int64.max - 1 }
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
            + (attoseconds > 0 && attoseconds % 1_000_000_000 > 0 ? 1 : 0)
    }
}
#endif
