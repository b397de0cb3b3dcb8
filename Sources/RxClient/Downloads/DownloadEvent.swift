public import RxHTTP

/// An event of a download.
public enum DownloadEvent: Sendable {
    /// The bytes of the file on the disk, including the bytes of earlier downloads.
    case progress(TransferProgress)
    /// The complete file is at its path, synced to the disk. The last value.
    case finished(DownloadedFile)
}

/// A file that has been downloaded.
public struct DownloadedFile: Sendable {
    /// The path of the file: the one given, or in a given folder.
    public var path: String
    /// Its size in bytes.
    public var size: Int64
    /// The number of bytes that were on the disk before the last request.
    public var resumedFrom: Int64
    /// The head of the last response: 200 for the whole file, 206 for a missing part, 416 if nothing was
    /// missing.
    public var head: ResponseHead
}
