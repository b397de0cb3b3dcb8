// The reference of the HTTP benchmark: libcurl and libuv driven by C.
//
//   multi_uv KIND URL COUNT INFLIGHT [FILE]
//
// It sends COUNT requests, INFLIGHT at a time, from one thread, and keeps the same data as a client: the header block
// and the body of each response. Easy handles are pooled, and options that are the same for all requests are set once.
// KIND is
//
//   get       GET, the bodies kept in memory
//   waiting   the same, for responses that take long
//   post      POST of 1 KiB
//   connect   GET, each on a separate connection
//   http2     GET over HTTP/2
//   discard   GET, the bodies discarded
//   download  GET, each body written to a new file that replaces FILE
//   upload    PUT of FILE
//
// Certificates are verified with CURL_CA_BUNDLE. It prints one line of JSON, and fails unless the status of each
// response is 200 or 201.

#include <curl/curl.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

typedef struct {
    char *bytes;
    size_t count, capacity;
} Buffer;

typedef struct {
    CURL *easy;
    Buffer head, body;
    int file;
    curl_off_t offset;
} Transfer;

/// A watched socket. The poll is kept as long as the socket: libcurl stops watching a connection after each request
/// and starts again with the next, and following that would cost two calls of epoll_ctl per request, which is two
/// thirds of the speed at 64 in flight. Its memory lives until the close callback, which may come after the
/// descriptor has been reused.
typedef struct {
    uv_poll_t poll;
    curl_socket_t socket;
    int wanted, armed; // events: requested by libcurl, reported by libuv
} Watch;

static uv_loop_t loop;
static uv_timer_t timer;
static uv_check_t after_poll;
static CURLM *multi;
static CURLSH *share;
static struct curl_slist *fields;
static const char *kind, *url, *path;
static char content[1024];
static Watch **watches; // by descriptor
static size_t watch_count;
static long started, finished, failed, wanted;
static size_t body_bytes;
static bool is_due; // libcurl asked to be called at once

static bool is_kind(const char *name) { return !strcmp(kind, name); }

static void *checked(void *memory) {
    if (!memory) {
        perror("malloc");
        exit(1);
    }
    return memory;
}

static int checked_file(int file) {
    if (file < 0) {
        perror(path);
        exit(1);
    }
    return file;
}

static size_t append(Buffer *buffer, const char *bytes, size_t count) {
    if (buffer->capacity - buffer->count < count) {
        buffer->capacity = 2 * buffer->capacity + count;
        buffer->bytes = checked(realloc(buffer->bytes, buffer->capacity));
    }
    memcpy(buffer->bytes + buffer->count, bytes, count);
    buffer->count += count;
    return count;
}

static size_t on_header(char *bytes, size_t size, size_t count, void *context) {
    Transfer *transfer = context;
    // Informational and final responses each begin with a status line: keep the last head only.
    if (size * count >= 5 && !memcmp(bytes, "HTTP/", 5)) transfer->head.count = 0;
    return append(&transfer->head, bytes, size * count);
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context) {
    body_bytes += count;
    return append(&((Transfer *)context)->body, bytes, size * count);
}

static size_t on_body_to_nowhere(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes, (void)context;
    body_bytes += count;
    return size * count;
}

static size_t on_body_to_file(char *bytes, size_t size, size_t count, void *context) {
    ssize_t written = write(((Transfer *)context)->file, bytes, size * count);
    if (written > 0) body_bytes += (size_t)written;
    return written < 0 ? 0 : (size_t)written;
}

static size_t on_read_file(char *bytes, size_t size, size_t count, void *context) {
    Transfer *transfer = context;
    ssize_t got = pread(transfer->file, bytes, size * count, transfer->offset);
    if (got < 0) return CURL_READFUNC_ABORT;
    transfer->offset += got;
    body_bytes += (size_t)got;
    return (size_t)got;
}

// Sockets

static void on_watch_closed(uv_handle_t *handle) { free(handle->data); }

static void unwatch(curl_socket_t socket) {
    if ((size_t)socket >= watch_count || !watches[socket]) return;
    Watch *watch = watches[socket];
    watches[socket] = NULL;
    uv_poll_stop(&watch->poll);
    uv_close((uv_handle_t *)&watch->poll, on_watch_closed);
}

static void on_event(uv_poll_t *poll, int status, int events);

static int on_socket(CURL *easy, curl_socket_t socket, int what, void *context, void *assigned) {
    (void)easy, (void)context, (void)assigned;
    if (what == CURL_POLL_REMOVE) {
        if ((size_t)socket < watch_count && watches[socket]) watches[socket]->wanted = 0;
        return 0;
    }
    if ((size_t)socket >= watch_count) {
        size_t count = 2 * (size_t)socket + 16;
        watches = checked(realloc(watches, count * sizeof *watches));
        memset(watches + watch_count, 0, (count - watch_count) * sizeof *watches);
        watch_count = count;
    }
    Watch *watch = watches[socket];
    if (!watch) {
        watch = checked(calloc(1, sizeof *watch));
        watch->socket = socket;
        watch->poll.data = watch;
        if (uv_poll_init_socket(&loop, &watch->poll, socket)) {
            free(watch);
            return -1;
        }
        watches[socket] = watch;
    }
    watch->wanted = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
    if (watch->wanted == watch->armed) return 0;
    watch->armed = watch->wanted;
    return uv_poll_start(&watch->poll, watch->wanted, on_event);
}

/// Needed because libcurl does not call the socket callback for every socket that it closes.
static int on_close_socket(void *context, curl_socket_t socket) {
    (void)context;
    unwatch(socket);
    return close(socket);
}

// Transfers

/// Sets the options of a handle that are the same for all requests.
static void set_up(Transfer *transfer) {
    CURL *easy = transfer->easy = checked(curl_easy_init());
    transfer->file = -1;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)(is_kind("http2") ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, (long)is_kind("http2"));
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, 10000L);
    curl_easy_setopt(easy, CURLOPT_SHARE, share);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close_socket);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION,
        is_kind("discard") ? on_body_to_nowhere : is_kind("download") ? on_body_to_file : on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("CURL_CA_BUNDLE"));
    if (is_kind("connect")) curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    if (is_kind("post")) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, content);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)sizeof content);
    }
    if (is_kind("upload")) {
        struct stat status;
        transfer->file = checked_file(open(path, O_RDONLY | O_CLOEXEC));
        if (fstat(transfer->file, &status)) exit(1);
        curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_read_file);
        curl_easy_setopt(easy, CURLOPT_READDATA, transfer);
        curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)status.st_size);
    }
}

static char *part_path(void) {
    static char name[4096];
    snprintf(name, sizeof name, "%s.part", path);
    return name;
}

static void start(Transfer *transfer) {
    transfer->head.count = transfer->body.count = 0;
    transfer->offset = 0;
    if (is_kind("download"))
        transfer->file = checked_file(open(part_path(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    curl_easy_setopt(transfer->easy, CURLOPT_URL, url);
    started++;
    CURLMcode code = curl_multi_add_handle(multi, transfer->easy);
    if (code) {
        fprintf(stderr, "curl_multi_add_handle: %s\n", curl_multi_strerror(code));
        exit(1);
    }
}

static void keep_file(Transfer *transfer) {
    if (fsync(transfer->file) || close(transfer->file) || rename(part_path(), path)) {
        perror(path);
        exit(1);
    }
    transfer->file = -1;
}

/// Removes the finished transfers and starts the next ones. Must follow every socket action.
static void drain(void) {
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        // The message becomes invalid when the handle is removed.
        CURL *easy = message->easy_handle;
        CURLcode result = message->data.result;
        Transfer *transfer;
        long status = 0;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        if (result != CURLE_OK || status / 2 != 100) {
            if (!failed++) fprintf(stderr, "%s, status %ld\n", curl_easy_strerror(result), status);
        }
        if (is_kind("download")) keep_file(transfer);
        finished++;
        curl_multi_remove_handle(multi, easy);
        if (started < wanted) start(transfer);
    }
    if (finished == wanted) uv_stop(&loop);
}

static void act(curl_socket_t socket, int events) {
    int running;
    CURLMcode code = curl_multi_socket_action(multi, socket, events, &running);
    if (code) {
        fprintf(stderr, "curl_multi_socket_action: %s\n", curl_multi_strerror(code));
        exit(1);
    }
    drain();
}

static void on_event(uv_poll_t *poll, int status, int events) {
    Watch *watch = poll->data;
    if (!watch->wanted) {
        // The server has closed an idle connection. libcurl notices this before it reuses it.
        watch->armed = 0;
        uv_poll_stop(poll);
        return;
    }
    int action = (events & UV_READABLE ? CURL_CSELECT_IN : 0) | (events & UV_WRITABLE ? CURL_CSELECT_OUT : 0);
    act(watch->socket, status < 0 ? CURL_CSELECT_ERR : action);
}

// Time

/// Calls libcurl as long as it wants to be called immediately; outside its callbacks, and without a timer, which
/// would cost an iteration of the loop.
static void act_if_due(void) {
    while (is_due) {
        is_due = false;
        act(CURL_SOCKET_TIMEOUT, 0);
    }
}

static void on_after_poll(uv_check_t *check) {
    (void)check;
    act_if_due();
}

static void on_timer_fired(uv_timer_t *handle) {
    (void)handle;
    act(CURL_SOCKET_TIMEOUT, 0);
    act_if_due();
}

static int on_timer(CURLM *handle, long milliseconds, void *context) {
    (void)handle, (void)context;
    is_due = milliseconds == 0;
    if (milliseconds > 0) return uv_timer_start(&timer, on_timer_fired, (uint64_t)milliseconds, 0);
    return uv_timer_stop(&timer);
}

// Measuring

static double cpu_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/// The peak resident memory, in KiB; getrusage also counts the time before exec.
static long peak_memory(void) {
    long peak = 0;
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) sscanf(line, "VmHWM: %ld", &peak);
    if (status) fclose(status);
    return peak;
}

static long number(const char *text) {
    char *end;
    long value = strtol(text, &end, 10);
    if (*end || value < 1) {
        fprintf(stderr, "not a number from 1: %s\n", text);
        exit(2);
    }
    return value;
}

int main(int argc, char **argv) {
    if (argc < 5 || argc > 6) {
        fprintf(stderr, "usage: %s KIND URL COUNT INFLIGHT [FILE]\n", argv[0]);
        return 2;
    }
    kind = argv[1];
    url = argv[2];
    wanted = number(argv[3]);
    long in_flight = number(argv[4]);
    if (in_flight > wanted) in_flight = wanted;
    path = argv[5];
    memset(content, 'x', sizeof content);

    signal(SIGPIPE, SIG_IGN);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) || uv_loop_init(&loop)) return 1;
    uv_timer_init(&loop, &timer);
    uv_check_init(&loop, &after_poll);
    uv_check_start(&after_poll, on_after_poll);
    multi = checked(curl_multi_init());
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 2 * in_flight);
    share = checked(curl_share_init());
    curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    fields = checked(curl_slist_append(NULL, "Expect:"));

    Transfer *transfers = checked(calloc((size_t)in_flight, sizeof *transfers));
    double cpu = cpu_seconds();
    uint64_t begin = uv_hrtime();
    for (long i = 0; i < in_flight; i++) {
        set_up(&transfers[i]);
        start(&transfers[i]);
    }
    act_if_due();
    if (finished < wanted) uv_run(&loop, UV_RUN_DEFAULT);
    double seconds = (double)(uv_hrtime() - begin) / 1e9;
    cpu = cpu_seconds() - cpu;

    for (long i = 0; i < in_flight; i++) {
        curl_easy_cleanup(transfers[i].easy);
        if (transfers[i].file >= 0) close(transfers[i].file);
        free(transfers[i].head.bytes);
        free(transfers[i].body.bytes);
    }
    free(transfers);
    curl_multi_cleanup(multi);
    curl_share_cleanup(share);
    curl_slist_free_all(fields);
    uv_close((uv_handle_t *)&timer, NULL);
    uv_close((uv_handle_t *)&after_poll, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    if (uv_loop_close(&loop)) fprintf(stderr, "handles are left in the loop\n"), failed++;
    free(watches);
    curl_global_cleanup();

    printf("{\"requests\":%ld,\"bytes\":%zu,\"seconds\":%.6f,\"cpu_seconds\":%.6f,\"peak_kib\":%ld}\n",
        finished, body_bytes, seconds, cpu, peak_memory());
    return failed > 0;
}
