/// A command to a list of pages.
public enum PagingCommand: Sendable, Hashable {
    /// Loads the next page, or retries the one that failed.
    case next
    /// Loads the page before the first one in the list.
    case previous
    /// Starts over with the first page, regardless of the list's start.
    case reload
    /// The item at this index is visible: loads the next or the previous page if that end of the list is at
    /// most ``PagingOptions/prefetchDistance`` items away.
    case visible(Int)
}
