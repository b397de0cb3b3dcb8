import RxHTTP
import RxLite

extension FileSystem {
    /// A body with a range of a file, which the transport may read directly. Fails with `file` if the file has another status.
    func body(of path: String, _ range: Range<Int64>, expecting status: FileStatus) -> Body {
        guard case .streamed(let body) = Body.file(path, range: range) else { return .empty }
        return .streamed(
            StreamedBody(isReplayable: true, count: body.count) { [self] _ in
                body.open(self).map { content throws(NetworkError) in
                    guard content.file?.status == status else {
                        throw NetworkError(.file, "\(path) changed before it was read")
                    }
                    return content
                }
            })
    }

    /// A part of a file, slice by slice. Unlike ``read(_:from:count:expecting:)`` it reads nothing ahead, so that many
    /// streams at a time need little memory.
    ///
    /// - Parameter size: the most bytes of a slice.
    func slices(
        of path: String, from offset: Int64, count: Int64, size: Int64, expecting status: FileStatus
    ) -> Observable<[UInt8], NetworkError> {
        let scheduler = read(path, from: offset, count: 0, expecting: status).scheduler
        return Observable(scheduler: scheduler) { observer in
            let slices = FileSlices(self, path, offset..<(offset + count), size, status, observer)
            slices.proceed()
        }
    }
}

/// One running ``FileSystem/slices(of:from:count:size:expecting:)``.
private final class FileSlices: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial. Debug builds check that.
    private let files: any FileSystem
    private let path: String
    private let size: Int64
    private let status: FileStatus
    private let observer: Observer<[UInt8], NetworkError>
    private var range: Range<Int64>
    /// Whether the next slice waits for the end of a pause.
    private var isWaiting = false

    init(
        _ files: any FileSystem, _ path: String, _ range: Range<Int64>, _ size: Int64,
        _ status: FileStatus, _ observer: Observer<[UInt8], NetworkError>
    ) {
        (self.files, self.path, self.range) = (files, path, range)
        (self.size, self.status, self.observer) = (size, status, observer)
        observer.scope.onResume {
            guard self.isWaiting else { return }
            self.isWaiting = false
            self.proceed()
        }
    }

    /// Reads the next slice, unless the subscription is paused.
    func proceed() {
        observer.scope.lane.assertInside()
        guard observer.scope.isOpen else { return }
        guard !range.isEmpty else { return observer.finish() }
        guard !observer.scope.isPaused else {
            isWaiting = true
            return
        }
        let count = min(size, Int64(range.count))
        let slice = files.read(path, from: range.lowerBound, count: count, expecting: status)
        range = (range.lowerBound + count)..<range.upperBound
        let scope = observer.scope.child()
        slice.subscribe(
            Observer(scope: scope, next: observer.next) { completion in
                scope.close()
                if case .failed = completion { return self.observer.end(completion) }
                self.proceed()
            })
    }
}
