#include <uv.h>
#ifdef __linux__
#include <sys/prctl.h>
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
