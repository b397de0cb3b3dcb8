import RxHTTP
import RxLite

/// Reserves the path of a download from its first attempt to its end.
struct PathReservation: ResponseStage {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard let reader = call.settings.reader as? DownloadReading else { return next(request) }
        return reader.files.reserving(
            reader.path, inFolder: reader.draftName(for: request), on: call.scheduler
        ) { file in
            call[ReservedPath.self] = file
            // Called only now, because the reading of the response needs the reserved file.
            return next(request)
        }
        .mapError { $0.naming(request) }
    }
}

/// The reserved path of a download.
enum ReservedPath: CallValueKey {
    static var initial: ReservedFile? { nil }
}
