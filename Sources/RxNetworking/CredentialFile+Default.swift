public import RxClient
import RxCurl

extension CredentialFile {
    /// Creates a store in a file of the machine, read and written through the loop that all clients share.
    ///
    /// ```swift
    /// let store = CredentialFile("/var/lib/app/credential.json")
    /// ```
    ///
    /// - Parameter path: the path of the file; the first save creates it. Its folder must exist.
    public init(_ path: String) {
        self.init(path, on: CurlTransport.shared.files)
    }
}
