#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Lets a thread run ahead by a limited number of steps (`sem_t`).
@safe
final class Slots: @unchecked Sendable {
    // Unchecked and safe: a semaphore is for many threads, and its memory lives from init to deinit.
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init(_ count: UInt32) { unsafe _ = sem_init(semaphore, 0, count) }

    deinit {
        unsafe _ = sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    func take() { while unsafe sem_wait(semaphore) != 0 {} }
    func give() { unsafe _ = sem_post(semaphore) }
}
