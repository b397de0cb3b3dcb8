internal import CLibuv
import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension EventLoop {
    /// Where the loop is in its life.
    enum Life {
        /// Not started yet, or it could not be.
        case new
        /// Runs on this thread.
        case running(uv_thread_t)
        /// Has been shut down.
        case ended
    }

    /// The reason that the loop does not run without a shutdown: the process had no descriptor or no thread left. `nil`
    /// if it runs, or has ended.
    ///
    /// Until it runs it blocks no caller, as after ``shutDown()``. Each piece of work that is posted tries again to
    /// start it.
    public var startError: UVError? { startFailure.withLock { $0 } }

    /// Makes the loop and starts its thread, unless it runs already; false if that cannot be, or it has ended.
    func start() -> Bool {
        life.withLock { life in
            switch life {
            case .running: return true
            case .ended: return false
            case .new: break
            }
            do throws(UVError) {
                life = .running(try makeThread())
            } catch {
                startFailure.withLock { $0 = error }
                return false
            }
            startFailure.withLock { $0 = nil }
            isNew.store(false, ordering: .releasing)
            return true
        }
    }

    private func makeThread() throws(UVError) -> uv_thread_t {
        try Self.checkDescriptors()
        try unsafe UVError.check(uv_loop_init(raw))
        do throws(UVError) {
            handles = try unsafe LoopHandles(of: raw)
        } catch {
            // libuv's init calls for these kinds fail only for arguments that are wrong.
            preconditionFailure("libuv could not make a handle: \(error)")
        }
        handles?.setOwner(self)
        var created = uv_thread_t()
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        let status = unsafe uv_thread_create(
            &created,
            { context in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue().run()
            }, context)
        guard status == 0 else {
            unsafe Unmanaged<EventLoop>.fromOpaque(context).release()
            handles?.close()
            handles = nil
            unsafe _ = uv_run(raw, UV_RUN_DEFAULT)
            unsafe _ = uv_loop_close(raw)
            throw UVError(rawValue: status)
        }
        // Nobody can have posted the thread's end before this.
        inbox.open()
        return created
    }

    /// Throws unless there are as many descriptors as libuv needs for a loop.
    ///
    /// For the process's first loop libuv makes a pipe for signals, and calls `abort` if it cannot
    /// (`uv__signal_global_init`).
    private static func checkDescriptors() throws(UVError) {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        while opened.count < 8 {
            var ends: [Int32] = [-1, -1]
            guard unsafe pipe(&ends) == 0 else { throw UVError(rawValue: -errno) }
            opened += ends
        }
    }
}
