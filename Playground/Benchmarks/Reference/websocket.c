// The reference of the WebSocket benchmark: libcurl's own WebSocket (curl_ws_send, curl_ws_recv), driven by epoll.
//
//   websocket echo PORT CONNECTIONS SIZE MESSAGES
//   websocket idle PORT CONNECTIONS
//
// echo sends MESSAGES binary messages of SIZE bytes in all, one at a time on each connection, and receives them again.
// idle opens the connections and does nothing. Prints one line of JSON, as the other programs do.
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

struct connection {
    CURL *easy;
    char *message;
    size_t received, sent;
};

static size_t size;
static long left, awaited;

static double cpu(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static double now(void) {
    struct timeval time;
    gettimeofday(&time, NULL);
    return time.tv_sec + time.tv_usec / 1e6;
}

static long resident_kib(void) {
    long total = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &total, &pages) != 2) exit(1);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void die(const char *what, CURLcode code) {
    fprintf(stderr, "%s: %s\n", what, curl_easy_strerror(code));
    exit(1);
}

// Sends what is left of the current message; waits for the socket if it takes no more.
static void continue_sending(struct connection *connection) {
    while (connection->sent < size) {
        size_t sent = 0;
        CURLcode code = curl_ws_send(connection->easy, connection->message + connection->sent,
                                     size - connection->sent, &sent, 0, CURLWS_BINARY);
        connection->sent += sent;
        if (code == CURLE_AGAIN) return;
        if (code) die("send", code);
    }
}

static void send_next(struct connection *connection) {
    if (left == 0) return;
    left--;
    connection->sent = 0;
    continue_sending(connection);
}

static void receive(struct connection *connection) {
    static char bytes[1 << 16];
    for (;;) {
        size_t count = 0;
        const struct curl_ws_frame *frame = NULL;
        CURLcode code = curl_ws_recv(connection->easy, bytes, sizeof bytes, &count, &frame);
        if (code == CURLE_AGAIN) return;
        if (code) die("receive", code);
        connection->received += count;
        if (frame->bytesleft > 0) continue;
        if (connection->received != size) die("another size", CURLE_OK);
        connection->received = 0;
        awaited--;
        send_next(connection);
    }
}

// Connects, and leaves the connection with the handle.
static void connect_with(CURLM *multi, CURL *easy) {
    curl_multi_add_handle(multi, easy);
    for (;;) {
        int running = 0, waiting = 0;
        CURLMcode failure = curl_multi_perform(multi, &running);
        if (!failure && running) failure = curl_multi_poll(multi, NULL, 0, 1000, NULL);
        if (failure) fprintf(stderr, "connect: %s\n", curl_multi_strerror(failure)), exit(1);
        CURLMsg *message = curl_multi_info_read(multi, &waiting);
        if (!message) continue;
        if (message->data.result) die("connect", message->data.result);
        return;
    }
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    int is_idle = !strcmp(argv[1], "idle"), count = atoi(argv[3]);
    if (!is_idle && argc < 6) return 2;
    size = is_idle ? 0 : (size_t)atol(argv[4]);
    left = awaited = is_idle ? 0 : atol(argv[5]);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    long before = resident_kib();
    char url[64];
    snprintf(url, sizeof url, "ws://127.0.0.1:%s/", argv[2]);
    struct connection *connections = calloc((size_t)count, sizeof *connections);
    int poll = epoll_create1(0);
    // One for all connections: curl_easy_perform would make one for each, with descriptors.
    CURLM *multi = curl_multi_init();
    for (int i = 0; i < count; i++) {
        struct connection *connection = connections + i;
        connection->easy = curl_easy_init();
        curl_easy_setopt(connection->easy, CURLOPT_URL, url);
        curl_easy_setopt(connection->easy, CURLOPT_CONNECT_ONLY, 2L);
        curl_easy_setopt(connection->easy, CURLOPT_PROXY, "");
        connect_with(multi, connection->easy);
        curl_socket_t fd = -1;
        curl_easy_getinfo(connection->easy, CURLINFO_ACTIVESOCKET, &fd);
        struct epoll_event event = {.events = EPOLLIN | (size > 4096 ? EPOLLOUT | EPOLLET : 0), .data.ptr = connection};
        epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
        if (!is_idle) {
            connection->message = malloc(size);
            memset(connection->message, 'x', size);
        }
    }
    if (is_idle) {
        printf("{\"connections\":%d,\"kib\":%ld}\n", count, resident_kib() - before);
        return 0;
    }
    long messages = awaited;
    double start = now(), used = cpu();
    for (int i = 0; i < count; i++) send_next(connections + i);
    while (awaited > 0) {
        struct epoll_event events[256];
        int ready = epoll_wait(poll, events, 256, -1);
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            if (connection->sent < size) continue_sending(connection);
            if (events[i].events & EPOLLIN) receive(connection);
        }
    }
    printf("{\"messages\":%ld,\"seconds\":%f,\"cpu_seconds\":%f}\n", messages, now() - start, cpu() - used);
    return 0;
}
