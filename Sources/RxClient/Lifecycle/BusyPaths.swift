import RxHTTP
import Synchronization

/// The paths that one part of this process has to itself: the target of a download, the lock of a credential.
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
        // Keeps the file system, so that no later one has the same identity while the path is reserved.
        return { withExtendedLifetime(files) { _ = places.withLock { $0.remove(place) } } }
    }
}
