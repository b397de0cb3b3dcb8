/// What a list of pages is told to do.
public enum PagingCommand: Sendable, Hashable {
    /// Loads the next page, or tries again the one that failed.
    case next
    /// Loads the page before the first that is there.
    case previous
    /// Begins anew, with the first page, wherever the list has begun.
    case reload
    /// The item of this index is on the screen: loads the next page, or the one before, where the end of what is there
    /// is no more than ``PagingOptions/prefetchDistance`` away.
    case visible(Int)
}
