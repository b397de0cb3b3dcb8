import RxHTTP

/// The reserved path of a download.
enum ReservedPath: CallValueKey {
    static var initial: ReservedFile? { nil }
}
