#include <errno.h>
#include <stdint.h>
#include <uv.h>
#include <stdio.h>
#ifdef __linux__
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>
#endif

// Names the calling thread for debuggers and profiles; at most 15 bytes are kept on Linux. libuv has a call
// for this from 1.50 only, and prctl is variadic.
static inline void rxuv_name_current_thread(const char *name) {
#ifdef __linux__
    prctl(PR_SET_NAME, name, 0L, 0L, 0L);
#else
    pthread_setname_np(name);
#endif
}

// Reads what is in the page cache, and never waits for a disk: preadv2 with RWF_NOWAIT (8), which the headers show
// to programs with _GNU_SOURCE only. The negative of errno where it fails: EAGAIN if nothing of it is in memory,
// EOPNOTSUPP if the file system cannot tell.
static inline ssize_t rxuv_read_cached(int file, void *bytes, size_t count, int64_t offset) {
#ifdef SYS_preadv2
    struct iovec piece = {bytes, count};
    long got = syscall(SYS_preadv2, file, &piece, 1, (long)offset, (long)(offset >> 32), 8);
    return got < 0 ? -errno : got;
#else
    return -EOPNOTSUPP;
#endif
}

// Whether a file is on a file system that has no disk behind it (tmpfs, ramfs).
static inline int rxuv_is_in_memory(int file) {
#ifdef __linux__
    struct statfs found;
    return fstatfs(file, &found) == 0 && (found.f_type == TMPFS_MAGIC || found.f_type == RAMFS_MAGIC);
#else
    return 0;
#endif
}

// The offset of the first byte, from an offset on, that was never written (lseek with SEEK_HOLE, which is 4 on Linux and 3
// on macOS; the headers show it to programs with _GNU_SOURCE only). The negative of errno where it fails: ENXIO beyond the
// end of the file, EINVAL or EOPNOTSUPP if the file system does not know.
static inline int64_t rxuv_find_hole(int file, int64_t offset) {
#ifdef __linux__
    off_t found = lseek(file, offset, 4);
#else
    off_t found = lseek(file, offset, 3);
#endif
    return found < 0 ? -errno : found;
}

// Moves a file to a path where nothing is: renameat2 with RENAME_NOREPLACE (1), which the headers show to programs with
// _GNU_SOURCE only, or renamex_np. The negative of errno where it fails: EEXIST if there is something, EINVAL, ENOTSUP
// or ENOSYS if the file system or the system cannot do it.
static inline int rxuv_rename_new(const char *path, const char *target) {
#ifdef __linux__
    return syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, target, 1) == 0 ? 0 : -errno;
#else
    return renamex_np(path, target, RENAME_EXCL) == 0 ? 0 : -errno;
#endif
}
