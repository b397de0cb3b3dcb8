public import RxClient
import RxCurl

extension CredentialFile {
    /// Creates a store in a file of the machine, read and written by way of the loop that all clients share.
    ///
    /// ```swift
    /// let store = CredentialFile("/var/lib/app/credential.json")
    /// ```
    ///
    /// - Parameter path: the file; made by the first save. Its folder must exist.
    public init(_ path: String) {
        self.init(path, on: CurlTransport.shared.files)
    }
}
