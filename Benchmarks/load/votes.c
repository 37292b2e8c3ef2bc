// votes - voters of one room over WebSockets: commands until their acknowledgements and until another's deltas.
//   votes PORT ROOM --tokens FILE [--subscriber TOKEN] [--follow] [--window 1] [--rate R] [--seconds 5] [--warmup 1]
//         [--tracks 50] [--cpu N]
// One thread, epoll, no TLS (backline serve --plain). FILE holds one token a line: each is a voter with a connection of
// its own, which casts and withdraws its vote for one track in turn, each time with a key. Closed loop: a voter has
// --window votes in flight. Open loop (--rate): R votes a second in all at random times (a Poisson process, as pgbench has
// it), the voters in turn, timed from when each was due.
// --subscriber: one more connection that follows the room; a vote's delta is the one that reaches its position.
// --follow: the voters follow the room too. One JSON line on stdout; exit 1 where an answer was not an acknowledgement.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 4096, MOST = 1 << 24 };
typedef struct {
    int fd, votes, in_flight;
    uint32_t next;             // the id of the next command
    double sent[SLOTS];        // when, by id
    uint8_t *in;
    size_t have, room;
} connection;

static int port, window = 1, tracks = 50, cpu = -1, follow;
static double rate, seconds = 5, warmup = 1;
static const char *room, *subscriber;
static connection *voters, watcher = {.fd = -1};
static int count, ep;
static uint64_t acknowledged, refused, behind;
static float *ack_times, *delta_times;
static size_t acks, deltas;
static double *sent_at, *delta_at;  // by the room's position
static size_t first_seq;
static double from, until;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
static void fail(const char *what) {
    fprintf(stderr, "votes: %s\n", what);
    exit(2);
}
static void write_all(int fd, const void *bytes, size_t length) {
    for (const char *at = bytes; length;) {
        ssize_t n = write(fd, at, length);
        if (n < 0) {
            if (errno != EAGAIN) fail("a connection broke");
            usleep(50);
            continue;
        }
        at += n, length -= (size_t)n;
    }
}
static void send_frame(int fd, int opcode, const char *text, size_t length) {
    uint8_t frame[1024];
    size_t at = 0;
    frame[at++] = (uint8_t)(0x80 | opcode);
    if (length < 126) {
        frame[at++] = (uint8_t)(0x80 | length);
    } else {
        frame[at++] = 0x80 | 126, frame[at++] = (uint8_t)(length >> 8), frame[at++] = (uint8_t)length;
    }
    memset(frame + at, 0, 4);  // a masking key of zeros leaves the payload as it is
    at += 4;
    memcpy(frame + at, text, length);
    write_all(fd, frame, at + length);
}

static int open_socket(const char *token, int follows) {
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to)) fail("cannot connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    char head[1024], path[128];
    snprintf(path, sizeof path, follows ? "/v1/rooms/%s/socket" : "/v1/socket", room);
    int length = snprintf(head, sizeof head,
        "GET %s HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: backline.v1.json\r\nAuthorization: Bearer %s\r\n\r\n", path, token);
    write_all(fd, head, (size_t)length);
    char end[4] = {0}, status[13] = {0};
    for (size_t n = 0; memcmp(end, "\r\n\r\n", 4); n++) {  // byte by byte, so that no frame behind it is lost
        memmove(end, end + 1, 3);
        if (read(fd, end + 3, 1) != 1) fail("no answer to an upgrade");
        if (n < 12) status[n] = end[3];
    }
    if (memcmp(status + 9, "101", 3)) fail("an upgrade was refused");
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

static void vote(connection *c, double due) {
    char text[384];
    c->votes++;
    int track = (int)(c - voters) % tracks + 1;
    uint32_t id = c->next++;
    c->sent[id % SLOTS] = due;
    c->in_flight++;
    int length = snprintf(text, sizeof text,
        "{\"type\":\"command\",\"id\":%u,\"room\":\"%s\",\"key\":\"vote-%u\",\"command\":{\"type\":\"%s\",\"track\":%d}}",
        id, room, id, c->votes % 2 ? "vote" : "unvote", track);
    send_frame(c->fd, 1, text, (size_t)length);
}

static uint64_t number(const char *text, const char *name) {
    const char *found = strstr(text, name);
    return found ? strtoull(found + strlen(name), NULL, 10) : 0;
}
static size_t place(uint64_t seq) {
    if (!first_seq) first_seq = seq > 1000 ? seq - 1000 : 0;
    if (seq < first_seq || seq - first_seq >= MOST) fail("too many events");
    return seq - first_seq;
}

static void take(connection *c, char *text, double at) {
    if (!strncmp(text, "{\"type\":\"ack\"", 13)) {
        uint32_t id = (uint32_t)number(text, "\"re\":");
        double sent = c->sent[id % SLOTS];
        c->in_flight--;
        acknowledged++;
        if (sent >= from && sent < until) {
            if (acks < MOST) ack_times[acks++] = (float)(at - sent);
            if (watcher.fd >= 0) sent_at[place(number(text, "\"seq\":"))] = sent;
        }
        if (!rate && at < until) vote(c, now());
    } else if (!strncmp(text, "{\"type\":\"delta\"", 15)) {
        if (c != &watcher) return;
        uint64_t last = number(text, "\"seq\":");
        for (uint64_t seq = number(text, "\"from\":"); seq <= last; seq++) delta_at[place(seq)] = at;
    } else if (!strncmp(text, "{\"type\":\"error\"", 15)) {
        if (!refused++) fprintf(stderr, "votes: %s\n", text);
        c->in_flight--;
    }
}

static void receive(connection *c) {
    for (;;) {
        if (c->room - c->have < 65536) c->in = realloc(c->in, c->room = c->room * 2 + 131072);
        ssize_t n = read(c->fd, c->in + c->have, c->room - c->have - 1);
        if (n < 0 && errno == EAGAIN) return;
        if (n <= 0) fail("the server closed a connection");
        double at = now();
        c->have += (size_t)n;
        size_t next = 0;
        while (c->have - next >= 2) {
            uint8_t *f = c->in + next;
            size_t length = f[1] & 127, head = 2;
            if (length == 126 && c->have - next >= 4) length = (size_t)f[2] << 8 | f[3], head = 4;
            else if (length == 127 && c->have - next >= 10) { uint64_t l; memcpy(&l, f + 2, 8); length = be64toh(l); head = 10; }
            else if (length >= 126) break;
            if (c->have - next < head + length) break;
            if ((f[0] & 15) == 9) send_frame(c->fd, 10, (char *)f + head, length);
            if ((f[0] & 15) == 1) {
                uint8_t after = f[head + length];
                f[head + length] = 0;
                take(c, (char *)f + head, at);
                f[head + length] = after;
            }
            next += head + length;
        }
        memmove(c->in, c->in + next, c->have -= next);
        if (n < 65536) return;
    }
}

static int ascending(const void *a, const void *b) {
    float d = *(const float *)a - *(const float *)b;
    return d < 0 ? -1 : d > 0;
}
static void percentiles(const char *name, float *times, size_t n) {
    if (!n) return;
    qsort(times, n, sizeof *times, ascending);
    printf(", \"%s_us_p50\": %.1f, \"%s_us_p90\": %.1f, \"%s_us_p99\": %.1f", name, times[n / 2] * 1e6, name, times[n * 9 / 10] * 1e6, name, times[n * 99 / 100] * 1e6);
}
static void watch(connection *c) {
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
    epoll_ctl(ep, EPOLL_CTL_ADD, c->fd, &e);
}

int main(int argument_count, char **words) {
    const char *tokens = NULL;
    static const struct option options[] = {
        {"tokens", 1, 0, 't'}, {"subscriber", 1, 0, 'S'}, {"follow", 0, 0, 'f'}, {"window", 1, 0, 'W'}, {"rate", 1, 0, 'r'},
        {"seconds", 1, 0, 's'}, {"warmup", 1, 0, 'w'}, {"tracks", 1, 0, 'T'}, {"cpu", 1, 0, 'c'}, {0, 0, 0, 0}};
    for (int o; (o = getopt_long(argument_count, words, "", options, NULL)) != -1;)
        switch (o) {
        case 't': tokens = optarg; break;
        case 'S': subscriber = optarg; break;
        case 'f': follow = 1; break;
        case 'W': window = atoi(optarg); break;
        case 'r': rate = atof(optarg); break;
        case 's': seconds = atof(optarg); break;
        case 'w': warmup = atof(optarg); break;
        case 'T': tracks = atoi(optarg); break;
        case 'c': cpu = atoi(optarg); break;
        default: fail("see the head of votes.c");
        }
    if (optind != argument_count - 2 || !tokens || window < 1 || tracks < 1) fail("see the head of votes.c");
    port = atoi(words[optind]), room = words[optind + 1];
    if (cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        sched_setaffinity(0, sizeof set, &set);
    }
    ep = epoll_create1(0);
    FILE *file = fopen(tokens, "r");
    if (!file) fail("cannot read the tokens");
    voters = calloc(20000, sizeof *voters);
    ack_times = malloc(MOST * sizeof *ack_times), delta_times = malloc(MOST * sizeof *delta_times);
    sent_at = calloc(MOST, sizeof *sent_at), delta_at = calloc(MOST, sizeof *delta_at);
    for (char line[256]; fgets(line, sizeof line, file) && count < 20000;) {
        line[strcspn(line, "\n")] = 0;
        connection *c = &voters[count++];
        c->fd = open_socket(line, follow), c->next = 1;
        watch(c);
    }
    if (!count) fail("no tokens");
    if (subscriber) watcher.fd = open_socket(subscriber, 1), watch(&watcher);
    double began = now();
    from = began + warmup, until = from + seconds;
    if (!rate)
        for (int v = 0; v < count; v++)
            for (int w = 0; w < window; w++) vote(&voters[v], now());
    uint64_t sent = 0;
    double due = began;
    prctl(PR_SET_TIMERSLACK, 1000);
    for (;;) {
        double t = now();
        if (rate)
            for (; due < until && due <= t; due -= log(1 - drand48()) / rate, sent++) {
                connection *c = &voters[sent % (uint64_t)count];
                if (c->in_flight >= SLOTS) fail("the server does not keep up");
                vote(c, due);
            }
        int waiting = 0;
        if (t > until) for (int v = 0; v < count; v++) waiting += voters[v].in_flight;
        // A moment more for the last deltas.
        if (t > until + 0.2 && (!waiting || t > until + 10)) { behind = (uint64_t)waiting; break; }
        struct epoll_event ready[256];
        double idle = rate && due < until && due - now() < 0.01 ? fmax(0, due - now()) : 0.01;
        struct timespec nap = {0, (long)(idle * 1e9)};
        int n = epoll_pwait2(ep, ready, 256, &nap, NULL);
        for (int i = 0; i < n; i++) receive(ready[i].data.ptr);
    }
    uint64_t lost = 0;
    for (size_t i = 0; i < MOST && watcher.fd >= 0; i++) {
        if (!sent_at[i]) continue;
        if (delta_at[i]) delta_times[deltas++] = (float)(delta_at[i] - sent_at[i]);
        else lost++;
    }
    printf("{\"votes_per_s\": %.1f, \"acknowledged\": %llu, \"refused\": %llu, \"unanswered\": %llu, \"without_delta\": %llu", (double)acks / seconds,
           (unsigned long long)acknowledged, (unsigned long long)refused, (unsigned long long)behind, (unsigned long long)lost);
    percentiles("ack", ack_times, acks);
    percentiles("delta", delta_times, deltas);
    printf("}\n");
    return refused || behind || lost;
}
