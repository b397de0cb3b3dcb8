import RxCurl
public import RxHTTP

extension HSTSStore {
    /// Creates a store in a text file of the machine, read and written through the loop that all clients share. See
    /// ``HSTSStore/init(file:on:)``.
    ///
    /// ```swift
    /// connections.hsts = HSTSStore(file: "/var/lib/app/hsts.txt")
    /// ```
    ///
    /// - Parameter path: the path of the file; the first save creates it. Its folder must exist.
    public convenience init(file path: String) {
        self.init(file: path, on: CurlTransport.shared.files)
    }
}
