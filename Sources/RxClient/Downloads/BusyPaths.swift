import RxHTTP
import Synchronization

/// The paths that this process is downloading to.
///
/// The same path on different file systems counts as different; file systems that are not objects count as
/// one per type.
enum BusyPaths {
    private struct Place: Hashable {
        let system: ObjectIdentifier
        let path: String
    }

    private static let places = Mutex<Set<Place>>([])

    /// Reserves a path and returns a closure that releases it; `nil` if the path is already reserved.
    static func take(_ path: String, in files: any FileSystem) -> (@Sendable () -> Void)? {
        let type = type(of: files)
        let system = type is AnyClass ? ObjectIdentifier(files as AnyObject) : ObjectIdentifier(type)
        let place = Place(system: system, path: path)
        guard places.withLock({ $0.insert(place).inserted }) else { return nil }
        return { _ = places.withLock { $0.remove(place) } }
    }
}
