// The reference of the fleet benchmark: pipelined GETs by hiredis on one connection.
//
//   redis_gets blocking|async PORT COUNT DEPTH
//
// blocking sends DEPTH commands at a time and reads their replies; async keeps DEPTH commands in flight on a libuv loop.
// Prints one line of JSON, as the other program does.
#include <hiredis/hiredis.h>
#include <hiredis/async.h>
#include <hiredis/adapters/libuv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>

enum { KEYS = 64 };

static char keys[KEYS][32];
static long count, depth, started, finished, bytes;

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

static void die(const char *what) {
    fprintf(stderr, "redis_gets: %s\n", what);
    exit(1);
}

// The arguments of the next command.
static const char **command(size_t *lengths) {
    static const char *arguments[2] = {"GET"};
    arguments[1] = keys[started++ % KEYS];
    lengths[0] = 3;
    lengths[1] = strlen(arguments[1]);
    return arguments;
}

static void take(redisReply *reply) {
    if (!reply || reply->type != REDIS_REPLY_STRING) die("an unexpected reply");
    bytes += reply->len;
    finished++;
}

static void run_blocking(int port) {
    redisContext *context = redisConnect("127.0.0.1", port);
    if (!context || context->err) die("no connection");
    size_t lengths[2];
    while (finished < count) {
        long batch = count - finished < depth ? count - finished : depth;
        for (long i = 0; i < batch; i++) {
            const char **arguments = command(lengths);
            redisAppendCommandArgv(context, 2, arguments, lengths);
        }
        for (long i = 0; i < batch; i++) {
            redisReply *reply = NULL;
            if (redisGetReply(context, (void **)&reply)) die("no reply");
            take(reply);
            freeReplyObject(reply);
        }
    }
    redisFree(context);
}

static void send_next(redisAsyncContext *context);

static void did_reply(redisAsyncContext *context, void *reply, void *data) {
    (void)data;
    take(reply);
    if (started < count) send_next(context);
    if (finished == count) redisAsyncDisconnect(context);
}

static void send_next(redisAsyncContext *context) {
    size_t lengths[2];
    const char **arguments = command(lengths);
    redisAsyncCommandArgv(context, did_reply, NULL, 2, arguments, lengths);
}

static void run_async(int port) {
    redisAsyncContext *context = redisAsyncConnect("127.0.0.1", port);
    if (!context || context->err) die("no connection");
    redisLibuvAttach(context, uv_default_loop());
    for (long i = 0; i < depth && i < count; i++) send_next(context);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}

int main(int argc, char **argv) {
    if (argc != 5) die("redis_gets blocking|async PORT COUNT DEPTH");
    int port = atoi(argv[2]);
    count = atol(argv[3]);
    depth = atol(argv[4]);
    for (int i = 0; i < KEYS; i++) snprintf(keys[i], sizeof keys[i], "{rxfleet}:entry:key:%d", i);
    double start = now(), used = cpu();
    if (strcmp(argv[1], "blocking") == 0) run_blocking(port); else run_async(port);
    printf("{\"count\": %ld, \"bytes\": %ld, \"seconds\": %.6f, \"cpu_seconds\": %.6f}\n",
           finished, bytes, now() - start, cpu() - used);
    return finished == count ? 0 : 1;
}
