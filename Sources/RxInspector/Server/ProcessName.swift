#if Inspector
import FoundationEssentials

/// The name of the inspected program.
enum ProcessName {
    static var current: String { ProcessInfo.processInfo.processName }
}
#endif
