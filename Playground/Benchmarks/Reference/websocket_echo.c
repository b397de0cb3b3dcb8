// A WebSocket server that echoes, for the benchmark of clients: one thread, epoll, no extensions.
//
//   websocket_echo
//
// Prints its port on 127.0.0.1 and ends with its standard input. Frames go back as they came, unmasked.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct buffer {
    char *bytes;
    size_t start, count, capacity;
};

struct connection {
    int fd, is_open, waits;
    struct buffer in, out;
};

static void append(struct buffer *buffer, const void *bytes, size_t count) {
    if (buffer->start == buffer->count) buffer->start = buffer->count = 0;
    if (buffer->count + count > buffer->capacity && buffer->start > 0) {
        memmove(buffer->bytes, buffer->bytes + buffer->start, buffer->count - buffer->start);
        buffer->count -= buffer->start;
        buffer->start = 0;
    }
    if (buffer->count + count > buffer->capacity) {
        buffer->capacity = (buffer->count + count) * 2;
        buffer->bytes = realloc(buffer->bytes, buffer->capacity);
    }
    memcpy(buffer->bytes + buffer->count, bytes, count);
    buffer->count += count;
}

static void release(struct buffer *buffer) {
    free(buffer->bytes);
    memset(buffer, 0, sizeof *buffer);
}

// SHA-1 (FIPS 180-4 §6.1) of at most 119 bytes.
static uint32_t rotate(uint32_t value, int bits) { return value << bits | value >> (32 - bits); }

static void sha1(const char *text, size_t count, uint8_t digest[20]) {
    uint32_t state[5] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    uint8_t message[128] = {0};
    size_t size = count + 9 <= 64 ? 64 : 128;
    memcpy(message, text, count);
    message[count] = 0x80;
    for (int i = 0; i < 8; i++) message[size - 1 - i] = (uint8_t)((uint64_t)count * 8 >> (8 * i));
    for (size_t block = 0; block < size; block += 64) {
        uint32_t words[80];
        for (int i = 0; i < 16; i++) {
            const uint8_t *b = message + block + 4 * i;
            words[i] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
        }
        for (int i = 16; i < 80; i++) words[i] = rotate(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
        for (int i = 0; i < 80; i++) {
            uint32_t f = i < 20 ? (b & c) | (~b & d) : i < 40 || i >= 60 ? b ^ c ^ d : (b & c) | (b & d) | (c & d);
            static const uint32_t constants[4] = {0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xCA62C1D6};
            uint32_t sum = rotate(a, 5) + f + e + constants[i / 20] + words[i];
            e = d, d = c, c = rotate(b, 30), b = a, a = sum;
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e;
    }
    for (int i = 0; i < 20; i++) digest[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}

// Answers the handshake once its head is complete; 0 if it is not one.
static int open_connection(struct connection *connection) {
    struct buffer *in = &connection->in;
    char *head = in->bytes + in->start;
    char *end = memmem(head, in->count - in->start, "\r\n\r\n", 4);
    if (!end) return 1;
    *end = 0;
    char *key = strcasestr(head, "\nsec-websocket-key:");
    if (!key) return 0;
    key += 19;
    key += strspn(key, " ");
    char text[128];
    int count = snprintf(text, sizeof text, "%.24s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
    uint8_t digest[21] = {0};
    sha1(text, (size_t)count, digest);
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char accept[29] = {0};
    for (int i = 0; i < 7; i++) {
        const uint8_t *b = digest + 3 * i;
        uint32_t bits = (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | (i < 6 ? b[2] : 0);
        for (int j = 0; j < 4; j++) accept[4 * i + j] = alphabet[bits >> (18 - 6 * j) & 63];
    }
    accept[27] = '=';
    char response[256];
    count = snprintf(response, sizeof response,
                     "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                     "Sec-WebSocket-Accept: %s\r\n\r\n", accept);
    append(&connection->out, response, (size_t)count);
    in->start = (size_t)(end + 4 - in->bytes);
    connection->is_open = 1;
    return 1;
}

// Echoes the complete frames.
static void echo(struct connection *connection) {
    struct buffer *in = &connection->in;
    for (;;) {
        uint8_t *frame = (uint8_t *)in->bytes + in->start;
        size_t count = in->count - in->start, header = 6;
        if (count < header) return;
        uint64_t length = frame[1] & 0x7F;
        if (length == 126) {
            if (count < (header = 8)) return;
            length = (uint64_t)frame[2] << 8 | frame[3];
        } else if (length == 127) {
            if (count < (header = 14)) return;
            length = 0;
            for (int i = 0; i < 8; i++) length = length << 8 | frame[2 + i];
        }
        if (count < header + length) return;
        uint8_t *payload = frame + header, mask[8];
        memcpy(mask, payload - 4, 4);
        memcpy(mask + 4, mask, 4);
        uint64_t key, word;
        memcpy(&key, mask, 8);
        size_t i = 0;
        for (; i + 8 <= length; i += 8) {
            memcpy(&word, payload + i, 8);
            word ^= key;
            memcpy(payload + i, &word, 8);
        }
        for (; i < length; i++) payload[i] ^= mask[i & 3];
        // The header without the mask lies directly before the payload.
        uint8_t *start = payload - (header - 4);
        memmove(start, frame, header - 4);
        start[1] &= 0x7F;
        append(&connection->out, start, header - 4 + length);
        in->start += header + length;
    }
}

static int flush(int poll, struct connection *connection) {
    struct buffer *out = &connection->out;
    while (out->start < out->count) {
        ssize_t sent = send(connection->fd, out->bytes + out->start, out->count - out->start, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) break;
        if (sent < 0) return 0;
        out->start += (size_t)sent;
    }
    int waits = out->start < out->count;
    if (!waits) release(out);
    if (waits != connection->waits) {
        struct epoll_event event = {.events = EPOLLIN | (waits ? EPOLLOUT : 0), .data.ptr = connection};
        epoll_ctl(poll, EPOLL_CTL_MOD, connection->fd, &event);
        connection->waits = waits;
    }
    return 1;
}

static int serve(int poll, struct connection *connection) {
    static char bytes[1 << 18];
    for (;;) {
        ssize_t count = recv(connection->fd, bytes, sizeof bytes, 0);
        if (count < 0 && errno == EAGAIN) break;
        if (count <= 0) return 0;
        append(&connection->in, bytes, (size_t)count);
        if ((size_t)count < sizeof bytes) break;
    }
    if (!connection->is_open && !open_connection(connection)) return 0;
    if (connection->is_open) echo(connection);
    // Idle connections keep no buffer.
    if (connection->in.start == connection->in.count) release(&connection->in);
    return flush(poll, connection);
}

int main(void) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 4096)) return perror("listen"), 1;
    getsockname(listener, (struct sockaddr *)&address, &size);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    int poll = epoll_create1(0);
    struct connection input = {.fd = 0}, accepting = {.fd = listener};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &accepting};
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
    event.data.ptr = &input;
    epoll_ctl(poll, EPOLL_CTL_ADD, 0, &event);
    for (;;) {
        struct epoll_event events[256];
        int count = epoll_wait(poll, events, 256, -1);
        for (int i = 0; i < count; i++) {
            struct connection *connection = events[i].data.ptr;
            if (connection == &input) return 0;
            if (connection == &accepting) {
                int fd;
                while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
                    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
                    struct connection *new = calloc(1, sizeof *new);
                    new->fd = fd;
                    struct epoll_event added = {.events = EPOLLIN, .data.ptr = new};
                    epoll_ctl(poll, EPOLL_CTL_ADD, fd, &added);
                }
                continue;
            }
            int is_alive = events[i].events & EPOLLIN ? serve(poll, connection) : flush(poll, connection);
            if (is_alive) continue;
            close(connection->fd);
            release(&connection->in);
            release(&connection->out);
            free(connection);
        }
    }
}
