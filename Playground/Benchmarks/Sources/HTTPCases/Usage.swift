import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// The resources that this process has used so far.
package struct Usage: Sendable {
    /// The user and system time of all threads, in seconds (getrusage(2)).
    package let cpuSeconds: Double
    /// The peak resident memory, in KiB.
    package let peakKibibytes: Int

    /// Reads the current values.
    package init() {
        var usage = rusage()
        // The call writes to `usage` and keeps no pointer to it.
        #if canImport(Glibc)
        _ = unsafe getrusage(RUSAGE_SELF.rawValue, &usage)
        peakKibibytes = Self.peakOfStatus ?? usage.ru_maxrss
        #else
        _ = unsafe getrusage(RUSAGE_SELF, &usage)
        peakKibibytes = usage.ru_maxrss >> 10
        #endif
        cpuSeconds =
            Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }

    /// The peak since exec; on Linux, getrusage also counts the time before exec.
    private static var peakOfStatus: Int? {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    }
}
