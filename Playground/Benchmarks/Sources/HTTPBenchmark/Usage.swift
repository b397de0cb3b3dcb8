#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What this process has used so far, by the operating system's account (getrusage(2)).
struct Usage {
    /// User and system time.
    let cpuSeconds: Double
    /// In KiB on Linux, in bytes on Darwin.
    let maxResidentSize: Int

    init() {
        var usage = rusage()
        #if canImport(Glibc)
            // The call fills in `usage` and keeps nothing of it.
            _ = unsafe getrusage(RUSAGE_SELF.rawValue, &usage)
        #else
            _ = unsafe getrusage(RUSAGE_SELF, &usage)
        #endif
        cpuSeconds =
            Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
        maxResidentSize = usage.ru_maxrss
    }
}
