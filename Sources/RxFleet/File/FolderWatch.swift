#if Fleet
#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Announces writes to the files of a folder, and the ends of processes that have one of them open to write
/// (inotify(7)). ``StoreMembers`` has the files.
final class FolderWatch: Sendable {
    /// The events since the last look.
    struct News {
        /// A file was written, or so much has happened that the kernel does not tell.
        var isWritten = false
        /// A file was closed that could be written: perhaps its process has ended.
        var isClosed = false
    }

    /// Readable when there are news.
    let descriptor: CInt

    private init(descriptor: CInt) { self.descriptor = descriptor }

    /// Watches a folder; `nil` if the system has no watches left (`fs.inotify.max_user_instances`), or none at all.
    static func begin(_ path: String) -> FolderWatch? {
        #if canImport(Glibc)
        // The flags of inotify_init1 are those of open(2).
        let descriptor = inotify_init1(CInt(O_NONBLOCK | O_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        let watch = FolderWatch(descriptor: descriptor)
        return unsafe inotify_add_watch(descriptor, path, UInt32(IN_MODIFY | IN_CLOSE_WRITE)) >= 0
            ? watch : nil
        #else
        return nil
        #endif
    }

    deinit { close(descriptor) }

    /// Reads the news without waiting for any.
    func read() -> News {
        var news = News()
        #if canImport(Glibc)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
            }
            guard count > 0 else { return news }
            var offset = 0
            // Of each event, the second word is the mask, and the fourth the length of the name that follows.
            while offset + 16 <= count {
                let (mask, length) = (word(buffer, offset + 4), word(buffer, offset + 12))
                if mask & UInt32(IN_MODIFY | IN_Q_OVERFLOW) != 0 { news.isWritten = true }
                if mask & UInt32(IN_CLOSE_WRITE | IN_Q_OVERFLOW) != 0 { news.isClosed = true }
                offset += 16 + Int(length)
            }
        }
        #else
        return news
        #endif
    }

    private func word(_ buffer: [UInt8], _ offset: Int) -> UInt32 {
        unsafe buffer.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
    }
}
#endif
