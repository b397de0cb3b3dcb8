import RxHTTP
import RxLite

/// Reserves the path of a download from its first attempt to its end.
struct PathReservation: ResponseStage {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard let reader = call.settings.reader as? DownloadReading else { return next(request) }
        return next(request).alone(at: reader.path, in: reader.files, for: request)
    }
}

extension Observable where Failure == NetworkError {
    /// Fails while another download to the path is running.
    fileprivate func alone(
        at path: String, in files: any FileSystem, for request: Request
    ) -> Observable {
        Observable(scheduler: scheduler) { observer in
            guard let leave = BusyPaths.take(path, in: files) else {
                let error = NetworkError(
                    .file, "another download to \(path) is running; wait for it or cancel it",
                    request: request)
                return observer.scope.perform { observer.fail(error) }
            }
            let scope = observer.scope.child()
            // Releases the path at the end, so that a subsequent download finds it free.
            scope.onClose(leave)
            let lock: Observable<@Sendable () -> Void, NetworkError> =
                files.lock(Download.draft(of: path)).mapError { error in
                    var error = error.naming(request)
                    if error.code == .locked { error.code = .file }
                    return error
                }
            lock
                .flatMap(.concat) { unlock -> Observable in
                    scope.onClose(unlock)
                    return self
                }
                .subscribe(
                    Observer(scope: scope, next: observer.next) { completion in
                        scope.close()
                        observer.end(completion)
                    })
        }
    }
}
