/// What most transfers have in common with the ones before.
struct RecentValues {
    /// The status line, which most responses of a server share.
    var statusLine = StatusLine()
    var addresses = AddressCache()
    var headers = HeaderListCache()
}
