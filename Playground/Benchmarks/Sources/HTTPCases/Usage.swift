import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// What this process has used so far.
package struct Usage: Sendable {
    /// User and system time of all threads (getrusage(2)).
    package let cpuSeconds: Double
    /// The most memory that was resident.
    package let peakKibibytes: Int

    /// What it is now.
    package init() {
        var usage = rusage()
        // The call fills in `usage` and keeps nothing of it.
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

    /// getrusage on Linux counts what came before exec too.
    private static var peakOfStatus: Int? {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    }
}
