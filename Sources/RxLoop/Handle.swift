internal import CLibuv

/// A libuv handle in separate memory, which stays valid until libuv has closed it.
///
/// "The memory … MUST be released … after `close_cb` was called" (libuv, `uv_close`).
@safe
struct Handle<Kind> {
    // Safe to hold: the pointer is valid from init until close(), after which the owner does not use it.
    let pointer: UnsafeMutablePointer<Kind>

    /// Allocates the handle; `start` is libuv's init call for it.
    init(_ start: (UnsafeMutablePointer<Kind>) -> Int32) throws(UVError) {
        unsafe pointer = .allocate(capacity: 1)
        let status = unsafe start(pointer)
        if status < 0 {
            unsafe pointer.deallocate()
            throw UVError(rawValue: status)
        }
    }

    /// The handle as libuv's supertype.
    var asHandle: UnsafeMutablePointer<uv_handle_t> {
        unsafe UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: uv_handle_t.self)
    }

    /// Sets the object that libuv's callbacks find. Not retained: the owner closes the handle before it is
    /// released.
    func setOwner(_ owner: AnyObject) {
        unsafe uv_handle_set_data(asHandle, Unmanaged.passUnretained(owner).toOpaque())
    }

    /// `uv_close`; the close callback frees the memory.
    func close() {
        unsafe uv_close(asHandle) { handle in unsafe UnsafeMutableRawPointer(handle)?.deallocate() }
    }
}

/// The owner of a handle, for the handle's callbacks.
///
/// - Parameter handle: a handle whose owner is set and has not closed it; after `uv_close` libuv calls only
///   the close callback.
func owner<Owner: AnyObject, Kind>(
    of handle: UnsafeMutablePointer<Kind>?, as type: Owner.Type
) -> Owner? {
    guard let handle = unsafe handle else { return nil }
    let base = unsafe UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)
    return unsafe uv_handle_get_data(base).map {
        unsafe Unmanaged<Owner>.fromOpaque($0).takeUnretainedValue()
    }
}
