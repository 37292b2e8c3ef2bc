// inserts - bare rows into PostgreSQL, to measure an event log beside: INSERT … SELECT unnest of batches, no check at all.
//   inserts CONNINFO --table NAME [--rooms 1000] [--batch 250] [--events 1] [--connections 2] [--seconds 5] [--warmup 1]
//           [--keys NAME]   also a row a command into this table, in the same statement
// The table has the columns of `events`; each connection writes the rooms that are its own, in batches of `--batch` rooms
// with `--events` rows each, arrays in binary form, one statement and so one commit a batch. One JSON line on stdout.
#define _GNU_SOURCE
#include <endian.h>
#include <getopt.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INT8 = 20, TEXT = 25, INT8S = 1016, TEXTS = 1009, JSONBS = 3807, UUIDS = 2951, UUID = 2950, JSONB = 3802 };
static const char *conninfo, *table, *keys;
static int rooms = 1000, batch = 250, events = 1, connections = 2;
static double seconds = 5, warmup = 1, began;
static const char payload[] = "{\"by\": 17, \"track\": 4211, \"votes\": 12, \"requestedSeq\": 1234}";

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
static void fail(const char *what) {
    fprintf(stderr, "inserts: %s\n", what);
    exit(2);
}

typedef struct { uint8_t *at, *start; } buffer;
static void put32(buffer *b, uint32_t v) { v = htobe32(v); memcpy(b->at, &v, 4); b->at += 4; }
static void put64(buffer *b, uint64_t v) { put32(b, 8); v = htobe64(v); memcpy(b->at, &v, 8); b->at += 8; }
static void put(buffer *b, const void *bytes, size_t count) { put32(b, (uint32_t)count); memcpy(b->at, bytes, count); b->at += count; }
static void put_json(buffer *b, const char *text, size_t count) {
    put32(b, (uint32_t)count + 1);
    *b->at++ = 1;  // the version of jsonb's binary form
    memcpy(b->at, text, count);
    b->at += count;
}
static void begin_array(buffer *b, uint32_t type, int count, int has_nulls) {
    b->at = b->start;
    put32(b, 1), put32(b, (uint32_t)has_nulls), put32(b, type), put32(b, (uint32_t)count), put32(b, 1);
}

typedef struct { pthread_t thread; int number; uint64_t rows; double *times; size_t count; } lane;

static void *run(void *argument) {
    lane *l = argument;
    PGconn *c = PQconnectdb(conninfo);
    if (PQstatus(c) != CONNECTION_OK) fail(PQerrorMessage(c));
    char sql[1024];
    int used = snprintf(sql, sizeof sql, "INSERT INTO %s (room_id, seq, at, type, payload, checksum) SELECT * FROM unnest($1, $2, $3, $4, $5, $6)", table);
    if (keys)
        snprintf(sql, sizeof sql, "WITH recorded AS (%.*s) INSERT INTO %s (room_id, slot, ordinal, session_id, key, fingerprint, seq, checksum, result) "
                 "SELECT * FROM unnest($7, $8, $9, $10, $11, $12, $13, $14, $15)", used, strdup(sql), keys);
    Oid types[] = {UUIDS, INT8S, INT8S, TEXTS, JSONBS, INT8S, UUIDS, INT8S, INT8S, UUIDS, TEXTS, INT8S, INT8S, INT8S, JSONBS};
    int parameters = keys ? 15 : 6;
    PGresult *r = PQprepare(c, "bare", sql, parameters, types);
    if (PQresultStatus(r) != PGRES_COMMAND_OK) fail(PQerrorMessage(c));
    PQclear(r);
    int own = rooms / connections, n = batch < own ? batch : own, rows = n * events, next = 0;
    uint64_t *seq = calloc((size_t)own, sizeof *seq);
    buffer b[15];
    const char *values[15];
    int lengths[15], formats[15];
    for (int i = 0; i < 15; i++) b[i].start = malloc(64 + (size_t)rows * 128), values[i] = (char *)b[i].start, formats[i] = 1;
    l->times = calloc(1 << 20, sizeof(double));
    uint8_t room[16] = {1, 2, 3, 4, 5, 6, 0x70, 7, 0x80, 8}, session[16] = {9};
    double from = began + warmup, until = from + seconds, start;
    while ((start = now()) < until) {
        for (int i = 0; i < parameters; i++) begin_array(&b[i], (uint32_t)(types[i] == UUIDS ? UUID : types[i] == INT8S ? INT8 : types[i] == TEXTS ? TEXT : JSONB), rows, i == 14);
        for (int i = 0; i < n; i++) {
            int which = (next + i) % own;
            uint32_t mark = htobe32((uint32_t)(l->number * own + which));
            memcpy(room + 12, &mark, 4);
            for (int e = 0; e < events; e++) {
                uint64_t s = ++seq[which];
                put(&b[0], room, 16), put64(&b[1], s), put64(&b[2], 1700000000000), put(&b[3], "voteCast", 8);
                put_json(&b[4], payload, sizeof payload - 1), put64(&b[5], s);
                if (!keys) continue;
                char key[32];
                int length = snprintf(key, sizeof key, "key-%llu", (unsigned long long)s);
                put(&b[6], room, 16), put64(&b[7], s), put64(&b[8], s), put(&b[9], session, 16), put(&b[10], key, (size_t)length);
                put64(&b[11], 1), put64(&b[12], s), put64(&b[13], s), put32(&b[14], UINT32_MAX);
            }
        }
        next = (next + n) % own;
        for (int i = 0; i < parameters; i++) lengths[i] = (int)(b[i].at - b[i].start);
        r = PQexecPrepared(c, "bare", parameters, values, lengths, formats, 1);
        if (PQresultStatus(r) != PGRES_COMMAND_OK) fail(PQerrorMessage(c));
        PQclear(r);
        if (start < from) continue;
        l->rows += (uint64_t)rows;
        if (l->count < 1 << 20) l->times[l->count++] = now() - start;
    }
    PQfinish(c);
    return NULL;
}

static int ascending(const void *a, const void *b) {
    double d = *(const double *)a - *(const double *)b;
    return d < 0 ? -1 : d > 0;
}

int main(int count, char **words) {
    static const struct option options[] = {
        {"table", 1, 0, 't'}, {"keys", 1, 0, 'k'}, {"rooms", 1, 0, 'r'}, {"batch", 1, 0, 'b'}, {"events", 1, 0, 'e'},
        {"connections", 1, 0, 'c'}, {"seconds", 1, 0, 's'}, {"warmup", 1, 0, 'w'}, {0, 0, 0, 0}};
    for (int o; (o = getopt_long(count, words, "", options, NULL)) != -1;)
        switch (o) {
        case 't': table = optarg; break;
        case 'k': keys = optarg; break;
        case 'r': rooms = atoi(optarg); break;
        case 'b': batch = atoi(optarg); break;
        case 'e': events = atoi(optarg); break;
        case 'c': connections = atoi(optarg); break;
        case 's': seconds = atof(optarg); break;
        case 'w': warmup = atof(optarg); break;
        default: fail("see the head of inserts.c");
        }
    if (optind != count - 1 || !table || rooms < connections || connections < 1 || connections > 64 || batch < 1 || events < 1) fail("see the head of inserts.c");
    conninfo = words[optind];
    began = now();
    lane lanes[64] = {0};
    for (int i = 0; i < connections; i++) lanes[i].number = i, pthread_create(&lanes[i].thread, NULL, run, &lanes[i]);
    uint64_t rows = 0;
    size_t all = 0;
    double *times = malloc((size_t)connections * (1 << 20) * sizeof(double));
    for (int i = 0; i < connections; i++) {
        pthread_join(lanes[i].thread, NULL);
        rows += lanes[i].rows;
        memcpy(times + all, lanes[i].times, lanes[i].count * sizeof(double));
        all += lanes[i].count;
    }
    if (all == 0) fail("no batch ended in time");
    qsort(times, all, sizeof(double), ascending);
    printf("{\"events_per_s\": %.1f, \"batch_us_p50\": %.1f, \"batch_us_p99\": %.1f}\n", (double)rows / seconds, times[all / 2] * 1e6, times[all * 99 / 100] * 1e6);
    return 0;
}
