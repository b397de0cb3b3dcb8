public import RxHTTP
public import RxLite

/// Where a ``CookieJar`` keeps its cookies while the process is not there.
public struct CookieStorage: Sendable {
    let load: Observable<[UInt8]?, NetworkError>
    let save: @Sendable ([UInt8]) -> Observable<Void, NetworkError>

    /// Creates a storage.
    ///
    /// - Parameters:
    ///   - load: gives what was saved last; `nil` where nothing has been.
    ///   - save: replaces the saved bytes atomically, and ends when they are safe. Called for one save at a time.
    public init(
        load: Observable<[UInt8]?, NetworkError>,
        save: @escaping @Sendable ([UInt8]) -> Observable<Void, NetworkError>
    ) {
        self.load = load
        self.save = save
    }

    /// A file, replaced as a whole at each save, with mode 0600. One that is a symbolic link or belongs to another user
    /// is not read: that fails with `untrustedFile`.
    public static func file(_ path: String, on files: any FileSystem) -> CookieStorage {
        // The most that a jar at its limits can take, doubled.
        let limit = 64 << 20
        let load = files.contents(of: path, limit: limit)
            .mapError { $0.code == .tooLarge ? NetworkError(.file, $0.message) : $0 }
        return CookieStorage(load: load) { files.replace(path, with: $0) }
    }
}
