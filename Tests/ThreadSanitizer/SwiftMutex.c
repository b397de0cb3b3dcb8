// Swift's Mutex takes its contended paths in libswiftSynchronization, which is not instrumented: ThreadSanitizer
// misses their acquire and release and reports races that are none. This tells it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
typedef __attribute__((swiftcall)) void (*lock_slow)(uint32_t, __attribute__((swift_context)) void *);
typedef __attribute__((swiftcall)) void (*unlock_slow)(__attribute__((swift_context)) void *);
__attribute__((swiftcall)) void lockSlow(uint32_t state, __attribute__((swift_context)) void *handle) asm(LOCK);
__attribute__((swiftcall)) void unlockSlow(__attribute__((swift_context)) void *handle) asm(UNLOCK);
__attribute__((swiftcall)) void lockSlow(uint32_t state, __attribute__((swift_context)) void *handle) {
  ((lock_slow)dlsym(RTLD_NEXT, LOCK))(state, handle);
  if (__tsan_acquire) __tsan_acquire(handle);
}
__attribute__((swiftcall)) void unlockSlow(__attribute__((swift_context)) void *handle) {
  if (__tsan_release) __tsan_release(handle);
  ((unlock_slow)dlsym(RTLD_NEXT, UNLOCK))(handle);
}
