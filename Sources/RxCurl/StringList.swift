internal import CLibcurl

/// A list of strings for curl (`curl_slist`).
@safe
final class StringList {
    // Safe: the list is freed with the object, which lives as long as the handles that use it.
    let raw: UnsafeMutablePointer<curl_slist>?

    /// Returns `nil` if out of memory.
    init?(_ texts: [String]) {
        var list: UnsafeMutablePointer<curl_slist>?
        for text in texts {
            guard let grown = unsafe curl_slist_append(list, text) else {
                unsafe curl_slist_free_all(list)
                return nil
            }
            unsafe list = grown
        }
        unsafe raw = unsafe list
    }

    deinit { unsafe curl_slist_free_all(raw) }
}
