internal import CLibuv
import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

extension EventLoop {
    /// The state of the loop's life.
    enum Life {
        /// Not started yet, or not able to start.
        case new
        /// Running on this thread.
        case running(uv_thread_t)
        /// Shut down.
        case ended
    }

    /// The reason why the loop does not run although it was not shut down: the process had no descriptor or
    /// no thread left. `nil` if it runs, or has ended.
    ///
    /// Until it runs it blocks no caller, as after ``shutDown()``. Each piece of posted work tries to start
    /// it again.
    public var startError: UVError? { startFailure.withLock { $0 } }

    /// Creates the loop and starts its thread, unless it is running; false if that fails or the loop has
    /// ended.
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
            // libuv's init calls for these kinds fail only for invalid arguments.
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
        // The end of the thread cannot have been posted before this.
        inbox.open()
        return created
    }

    /// Throws unless the process has as many descriptors left as libuv needs for a loop.
    ///
    /// For the process's first loop libuv creates a pipe for signals, and calls `abort` if that fails
    /// (`uv__signal_global_init`).
    private static func checkDescriptors() throws(UVError) {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        while opened.count < 8 {
            // Child processes that start meanwhile do not inherit it.
            let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw UVError(rawValue: -errno) }
            opened.append(descriptor)
        }
    }
}
