public import RxHTTP

/// An event of a download.
public enum DownloadEvent: Sendable {
    /// The bytes of the file on the disk, including those of earlier runs.
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
    /// The last response: 200 for the whole, 206 for what was missing, 416 where nothing was.
    public var head: ResponseHead
}
