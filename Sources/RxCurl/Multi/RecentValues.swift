/// Values that most transfers have in common with the previous ones.
struct RecentValues {
    /// The status line, which is the same for most responses of a server.
    var statusLine = StatusLine()
    var addresses = AddressCache()
    var headers = HeaderListCache()
}
