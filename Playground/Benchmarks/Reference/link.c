// A link to a TCP server on loopback with a delay and a limit for each connection.
//
//   link PORT TARGET DELAY RATE
//
// listens on 127.0.0.1:PORT and connects to 127.0.0.1:TARGET. Bytes need half of DELAY milliseconds each way, and each way
// of a connection carries RATE bytes a second at most (0: no limit).
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 16384, CONNECTIONS = 1024 };

struct piece {
    struct piece *next;
    double due;
    int size, sent;
    char bytes[PIECE];
};

// One way of a connection.
struct way {
    int from, to;
    struct piece *first, *last;
    size_t waiting;
    double free_at;
    int ended, done;
};

struct connection { struct way ways[2]; int used; };

static struct connection connections[CONNECTIONS];
static double delay, rate;
static size_t window;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void take(struct way *way, double time) {
    while (!way->ended && way->waiting < window) {
        struct piece *piece = malloc(sizeof *piece);
        if (!piece) exit(1);
        ssize_t got = recv(way->from, piece->bytes, PIECE, MSG_DONTWAIT);
        if (got <= 0) {
            int again = got < 0 && (errno == EAGAIN || errno == EINTR);
            free(piece);
            if (!again) way->ended = 1;
            return;
        }
        if (way->free_at < time) way->free_at = time;
        if (rate > 0) way->free_at += got / rate;
        piece->due = way->free_at + delay;
        piece->size = (int)got;
        piece->sent = 0;
        piece->next = NULL;
        if (way->last) way->last->next = piece; else way->first = piece;
        way->last = piece;
        way->waiting += got;
    }
}

// Returns the time at which something is due; 0 if nothing waits.
static double give(struct way *way, double time) {
    while (way->first && way->first->due <= time) {
        struct piece *piece = way->first;
        ssize_t sent = send(way->to, piece->bytes + piece->sent, piece->size - piece->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EAGAIN || errno == EINTR) return time + 0.001;
            way->ended = way->done = 1;
            return 0;
        }
        piece->sent += (int)sent;
        if (piece->sent < piece->size) return time + 0.001;
        way->first = piece->next;
        if (!way->first) way->last = NULL;
        way->waiting -= piece->size;
        free(piece);
    }
    if (way->first) return way->first->due;
    if (way->ended && !way->done) {
        way->done = 1;
        shutdown(way->to, SHUT_WR);
    }
    return 0;
}

static struct sockaddr_in loopback(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

int main(int count, char **words) {
    if (count != 5) return 2;
    struct sockaddr_in own = loopback(atoi(words[1])), target = loopback(atoi(words[2]));
    delay = atof(words[3]) / 2000;
    rate = atof(words[4]);
    // What is on the way, and a little more, as the buffers of a real link.
    window = (rate > 0 ? rate * delay : 4 << 20) + (256 << 10);
    signal(SIGPIPE, SIG_IGN);
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&own, sizeof own) || listen(listener, 512)) return 1;
    puts("ready");
    fflush(stdout);
    int poll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = CONNECTIONS};
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
    double next = 0;
    for (;;) {
        struct epoll_event events[64];
        double time = now();
        int wait = next == 0 ? 100 : next <= time ? 0 : (int)((next - time) * 1000) + 1;
        int ready = epoll_wait(poll, events, 64, wait);
        for (int i = 0; i < ready; i++) {
            if (events[i].data.u64 != CONNECTIONS) continue;
            int client = accept(listener, NULL, NULL), upstream = socket(AF_INET, SOCK_STREAM, 0);
            int index = 0;
            while (index < CONNECTIONS && connections[index].used) index++;
            if (client < 0 || index == CONNECTIONS || connect(upstream, (struct sockaddr *)&target, sizeof target)) {
                close(client);
                close(upstream);
                continue;
            }
            setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            setsockopt(upstream, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            connections[index] = (struct connection){
                .used = 1, .ways = {{.from = client, .to = upstream}, {.from = upstream, .to = client}}};
            struct epoll_event edge = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.u64 = index};
            epoll_ctl(poll, EPOLL_CTL_ADD, client, &edge);
            epoll_ctl(poll, EPOLL_CTL_ADD, upstream, &edge);
        }
        time = now();
        next = 0;
        for (int index = 0; index < CONNECTIONS; index++) {
            struct connection *connection = &connections[index];
            if (!connection->used) continue;
            for (int w = 0; w < 2; w++) {
                struct way *way = &connection->ways[w];
                double due = give(way, time);
                take(way, time);
                if (due == 0 && way->first) due = way->first->due;
                if (due > 0 && (next == 0 || due < next)) next = due;
            }
            if (connection->ways[0].done && connection->ways[1].done) {
                close(connection->ways[0].from);
                close(connection->ways[0].to);
                connection->used = 0;
            }
        }
    }
}
