import RxHTTP
import Synchronization

/// The paths that this process is downloading to.
///
/// Those of different file systems are different; file systems that are no objects are one per type.
enum BusyPaths {
    private struct Place: Hashable {
        let system: ObjectIdentifier
        let path: String
    }

    private static let places = Mutex<Set<Place>>([])

    /// Takes a path; `nil` if somebody has it. What is returned gives it back.
    static func take(_ path: String, in files: any FileSystem) -> (@Sendable () -> Void)? {
        let type = type(of: files)
        let system = type is AnyClass ? ObjectIdentifier(files as AnyObject) : ObjectIdentifier(type)
        let place = Place(system: system, path: path)
        guard places.withLock({ $0.insert(place).inserted }) else { return nil }
        return { _ = places.withLock { $0.remove(place) } }
    }
}
