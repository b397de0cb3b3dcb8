public import RxHTTP

/// What happens to a download.
public enum DownloadEvent: Sendable {
    /// So much of the file is on the disk beside its place, what was there from before included.
    case progress(TransferProgress)
    /// The file is at its place, whole and synced. The last value.
    case finished(DownloadedFile)
}

/// A file that has been downloaded.
public struct DownloadedFile: Sendable {
    /// Where it is.
    public var path: String
    /// Its size in bytes.
    public var size: Int64
    /// How many of these were there before the last request.
    public var resumedFrom: Int64
    /// The last answer: 200 for the whole, 206 for what was missing, 416 where nothing was.
    public var head: ResponseHead
}
