public import RxHTTP
public import RxLite

/// The storage in which a ``CookieJar`` keeps its cookies for the next process.
public struct CookieStorage: Sendable {
    let load: Observable<[UInt8]?, NetworkError>
    let save: @Sendable ([UInt8]) -> Observable<Void, NetworkError>

    /// Creates a storage.
    ///
    /// - Parameters:
    ///   - load: sends the bytes that were saved last; `nil` if nothing was saved.
    ///   - save: replaces the saved bytes atomically, and ends when they are written. Called for one save at
    ///     a time.
    public init(
        load: Observable<[UInt8]?, NetworkError>,
        save: @escaping @Sendable ([UInt8]) -> Observable<Void, NetworkError>
    ) {
        self.load = load
        self.save = save
    }

    /// A file that each save replaces, with mode 0600. A symbolic link or a file of another user is not read:
    /// reading fails with `untrustedFile`.
    public static func file(_ path: String, on files: any FileSystem) -> CookieStorage {
        // Twice the maximum size of a jar at its limits.
        let limit = 64 << 20
        let load = files.contents(of: path, limit: limit)
            .mapError { $0.code == .tooLarge ? NetworkError(.file, $0.message) : $0 }
        return CookieStorage(load: load) { files.replace(path, with: $0) }
    }
}
