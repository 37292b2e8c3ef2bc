// nearby - the peers of the index of nearby rooms: the same rooms and queries for each, one query at a time.
//   nearby KIND --rooms FILE --queries FILE --radii M,M,… --answers FILE [--limit 50] [--rounds 3] [--at PLACE]
//   KIND   truth      looks at every room on the same latitudes
//          sqlite     R*Tree in this process: box, then Haversine in C
//          postgis    geography with a GiST index: ST_DWithin, KNN order; PLACE is a connection string
//          btree      (lat, lon) in a B-tree: box, then Haversine in SQL; PLACE is a connection string
//          redis      GEOSEARCH; PLACE is the port on 127.0.0.1
// FILES  rooms: 16 bytes of id, latitude, longitude (doubles); queries: latitude, longitude; answers, for each query of
//        each radius: a count (64 bits), then so many ids and distances.
// A query's time is the median of its rounds. One JSON line on stdout.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <endian.h>
#include <getopt.h>
#include <libpq-fe.h>
#include <math.h>
#include <netinet/tcp.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define R 6371008.8
#define RAD (M_PI / 180)
typedef struct { uint8_t id[16]; double lat, lon; } room;
typedef struct { double lat, lon; } point;
typedef struct { uint8_t id[16]; double distance; } hit;
static room *rooms; static point *queries; static size_t nrooms, nqueries;
static double radii[16]; static int nradii, rounds = 3; static size_t limit = 50;
static const char *place;
static size_t refused;           // rooms that a peer does not take
static double inserts, size;     // seconds; bytes of the index

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
static void fail(const char *what) {
    fprintf(stderr, "nearby: %s\n", what);
    exit(2);
}
static void *contents(const char *path, size_t record, size_t *count) {
    FILE *f = fopen(path, "rb");
    if (!f) fail(path);
    fseek(f, 0, SEEK_END);
    size_t bytes = (size_t)ftell(f);
    rewind(f);
    void *all = malloc(bytes + 1);
    if (fread(all, 1, bytes, f) != bytes || bytes % record) fail(path);
    fclose(f);
    *count = bytes / record;
    return all;
}

static double haversine(double lat1, double lon1, double lat2, double lon2) {
    double s = sin((lat2 - lat1) * (M_PI / 360)), e = sin((lon2 - lon1) * (M_PI / 360));
    double a = s * s + cos(lat1 * RAD) * cos(lat2 * RAD) * (e * e);
    return 2 * R * asin(fmin(1, sqrt(a)));
}
static int by_distance(const void *a, const void *b) {
    const hit *x = a, *y = b;
    return x->distance < y->distance ? -1 : x->distance > y->distance ? 1 : memcmp(x->id, y->id, 16);
}
// Latitudes and one or two ranges of longitudes around a point, a little too wide.
typedef struct { double south, north, west[2], east[2]; int ranges; } box;
static box around(double lat, double lon, double radius) {
    double r = radius / R + 2e-11, phi = lat * RAD, d = r / RAD;
    box b = {fmax(-90, lat - d), fmin(90, lat + d), {-180, 0}, {180, 0}, 1};
    if (r >= M_PI / 2) return b.south = -90, b.north = 90, b;
    if (fabs(phi) + r >= M_PI / 2 - 1e-9) return b;
    double w = atan2(sin(r), sqrt(cos(phi + r) * cos(phi - r))) / RAD;
    b.west[0] = lon - w, b.east[0] = lon + w;
    if (b.west[0] < -180) b.west[1] = -180, b.east[1] = b.east[0], b.west[0] += 360, b.east[0] = 180, b.ranges = 2;
    else if (b.east[0] > 180) b.west[1] = -180, b.east[1] = b.east[0] - 360, b.east[0] = 180, b.ranges = 2;
    return b;
}

// Every room on the latitudes of the circle.

static size_t truth(point q, double radius, hit *hits) {
    static hit *found; static size_t room_for;
    size_t n = 0;
    double reach = radius / R / RAD + 1e-9;
    for (size_t i = 0; i < nrooms; i++) {
        if (fabs(rooms[i].lat - q.lat) > reach) continue;
        double d = haversine(q.lat, q.lon, rooms[i].lat, rooms[i].lon);
        if (!(d <= radius)) continue;
        if (n == room_for) found = realloc(found, (room_for = room_for * 2 + 1024) * sizeof *found);
        memcpy(found[n].id, rooms[i].id, 16), found[n++].distance = d;
    }
    qsort(found, n, sizeof *found, by_distance);
    if (n > limit) n = limit;
    memcpy(hits, found, n * sizeof *hits);
    return n;
}

// SQLite.

static sqlite3 *db;
static sqlite3_stmt *nearest[2];
static void lite(int code) {
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) fail(sqlite3_errmsg(db));
}
static void distance_function(sqlite3_context *c, int n, sqlite3_value **v) {
    (void)n;
    sqlite3_result_double(c, haversine(sqlite3_value_double(v[0]), sqlite3_value_double(v[1]), sqlite3_value_double(v[2]), sqlite3_value_double(v[3])));
}
static void sqlite_begin(void) {
    lite(sqlite3_open(":memory:", &db));
    lite(sqlite3_create_function(db, "distance", 4, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, distance_function, NULL, NULL));
    lite(sqlite3_exec(db, "CREATE VIRTUAL TABLE rooms USING rtree(n, south, north, west, east, +id, +lat, +lon); BEGIN", NULL, NULL, NULL));
    sqlite3_stmt *s;
    lite(sqlite3_prepare_v2(db, "INSERT INTO rooms VALUES (?1, ?2, ?2, ?3, ?3, ?4, ?2, ?3)", -1, &s, NULL));
    double start = now();
    for (size_t i = 0; i < nrooms; i++) {
        sqlite3_bind_int64(s, 1, (sqlite3_int64)i), sqlite3_bind_double(s, 2, rooms[i].lat), sqlite3_bind_double(s, 3, rooms[i].lon);
        sqlite3_bind_blob(s, 4, rooms[i].id, 16, SQLITE_STATIC);
        lite(sqlite3_step(s)), lite(sqlite3_reset(s));
    }
    lite(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL));
    inserts = now() - start, size = (double)sqlite3_memory_used();
    sqlite3_finalize(s);
    const char *part = "SELECT id, distance(?1, ?2, lat, lon) AS d FROM rooms WHERE south <= ?6 AND north >= ?5 AND west <= ?8 AND east >= ?7 AND d <= ?3";
    char sql[1024];
    snprintf(sql, sizeof sql, "%s ORDER BY d, id LIMIT ?4", part);
    lite(sqlite3_prepare_v2(db, sql, -1, &nearest[0], NULL));
    snprintf(sql, sizeof sql, "%s UNION ALL SELECT id, distance(?1, ?2, lat, lon) AS d FROM rooms WHERE south <= ?6 AND north >= ?5 AND west <= ?10 AND east >= ?9 AND d <= ?3 ORDER BY 2, 1 LIMIT ?4", part);
    lite(sqlite3_prepare_v2(db, sql, -1, &nearest[1], NULL));
}
static size_t sqlite_query(point q, double radius, hit *hits) {
    box b = around(q.lat, q.lon, radius);
    sqlite3_stmt *s = nearest[b.ranges - 1];
    double values[] = {q.lat, q.lon, radius, (double)limit, b.south, b.north, b.west[0], b.east[0], b.west[1], b.east[1]};
    for (int i = 0; i < 6 + 2 * b.ranges; i++) i == 3 ? sqlite3_bind_int64(s, 4, (sqlite3_int64)limit) : sqlite3_bind_double(s, i + 1, values[i]);
    size_t n = 0;
    int code;
    while ((code = sqlite3_step(s)) == SQLITE_ROW)
        memcpy(hits[n].id, sqlite3_column_blob(s, 0), 16), hits[n++].distance = sqlite3_column_double(s, 1);
    lite(code), lite(sqlite3_reset(s));
    return n;
}

// PostgreSQL.

enum { FLOAT8 = 701 };
static PGconn *pg;
static PGresult *sql(const char *text) {
    PGresult *r = PQexec(pg, text);
    ExecStatusType s = PQresultStatus(r);
    if (s != PGRES_COMMAND_OK && s != PGRES_TUPLES_OK && s != PGRES_COPY_IN) fail(PQerrorMessage(pg));
    return r;
}
static void put_double(char *to, double v) {
    uint64_t bits;
    memcpy(&bits, &v, 8), bits = htobe64(bits), memcpy(to, &bits, 8);
}
static double get_double(const char *from) {
    uint64_t bits;
    double v;
    memcpy(&bits, from, 8), bits = be64toh(bits), memcpy(&v, &bits, 8);
    return v;
}
static void prepare(const char *name, const char *text, int parameters) {
    Oid types[16];
    for (int i = 0; i < parameters; i++) types[i] = FLOAT8;
    PGresult *r = PQprepare(pg, name, text, parameters, types);
    if (PQresultStatus(r) != PGRES_COMMAND_OK) fail(PQerrorMessage(pg));
    PQclear(r);
}
static size_t run(const char *name, const double *values, int count, hit *hits) {
    char bytes[16][8];
    const char *at[16];
    int lengths[16], formats[16];
    for (int i = 0; i < count; i++) put_double(bytes[i], values[i]), at[i] = bytes[i], lengths[i] = 8, formats[i] = 1;
    PGresult *r = PQexecPrepared(pg, name, count, at, lengths, formats, 1);
    if (PQresultStatus(r) != PGRES_TUPLES_OK) fail(PQerrorMessage(pg));
    size_t n = (size_t)PQntuples(r);
    for (size_t i = 0; i < n; i++) memcpy(hits[i].id, PQgetvalue(r, (int)i, 0), 16), hits[i].distance = get_double(PQgetvalue(r, (int)i, 1));
    PQclear(r);
    return n;
}
static void postgres_begin(const char *extension, const char *index) {
    pg = PQconnectdb(place);
    if (PQstatus(pg) != CONNECTION_OK) fail(PQerrorMessage(pg));
    // What suits short queries: one plan for all, no compiling of it, no helpers.
    PQclear(sql("SET plan_cache_mode = force_generic_plan; SET jit = off; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning"));
    PQclear(sql(extension));
    PQclear(sql("CREATE TABLE rooms (id uuid PRIMARY KEY, lat float8 NOT NULL, lon float8 NOT NULL)"));
    double start = now();
    PQclear(sql("COPY rooms FROM STDIN"));
    for (size_t i = 0; i < nrooms; i++) {
        char line[128];
        int n = 0;
        for (int j = 0; j < 16; j++) n += sprintf(line + n, "%02x", rooms[i].id[j]);
        n += sprintf(line + n, "\t%.17g\t%.17g\n", rooms[i].lat, rooms[i].lon);
        if (PQputCopyData(pg, line, n) != 1) fail(PQerrorMessage(pg));
    }
    if (PQputCopyEnd(pg, NULL) != 1) fail(PQerrorMessage(pg));
    for (PGresult *r; (r = PQgetResult(pg)); PQclear(r)) if (PQresultStatus(r) != PGRES_COMMAND_OK) fail(PQerrorMessage(pg));
    PQclear(sql(index));
    inserts = now() - start;
    PQclear(sql("VACUUM ANALYZE rooms"));
    PGresult *r = sql("SELECT pg_relation_size('nearby')");
    size = atof(PQgetvalue(r, 0, 0));
    PQclear(r);
}
static void postgis_begin(void) {
    postgres_begin("CREATE EXTENSION postgis",
        "ALTER TABLE rooms ADD place geography(Point, 4326);"
        "UPDATE rooms SET place = ST_SetSRID(ST_MakePoint(lon, lat), 4326)::geography; CREATE INDEX nearby ON rooms USING gist (place)");
    char text[512];
    snprintf(text, sizeof text,
        "SELECT id, ST_Distance(place, ST_SetSRID(ST_MakePoint($2, $1), 4326)::geography, false) FROM rooms "
        "WHERE ST_DWithin(place, ST_SetSRID(ST_MakePoint($2, $1), 4326)::geography, $3, false) "
        "ORDER BY place <-> ST_SetSRID(ST_MakePoint($2, $1), 4326)::geography LIMIT %zu", limit);
    prepare("nearest", text, 3);
}
static size_t postgis_query(point q, double radius, hit *hits) {
    return run("nearest", (double[]){q.lat, q.lon, radius}, 3, hits);
}
static void btree_begin(void) {
    postgres_begin("SELECT 1", "CREATE INDEX nearby ON rooms (lat, lon)");
    for (int ranges = 1; ranges <= 2; ranges++) {
        char text[1024];
        snprintf(text, sizeof text,
            "SELECT id, d FROM (SELECT id, 2 * 6371008.8 * asin(least(1, sqrt(sin((lat - $1) * pi() / 360) ^ 2 + "
            "cos($1 * pi() / 180) * cos(lat * pi() / 180) * sin((lon - $2) * pi() / 360) ^ 2))) AS d FROM rooms "
            "WHERE lat BETWEEN $4 AND $5 AND %s) AS near WHERE d <= $3 ORDER BY d, id LIMIT %zu",
            ranges == 1 ? "lon BETWEEN $6 AND $7" : "(lon BETWEEN $6 AND $7 OR lon BETWEEN $8 AND $9)", limit);
        prepare(ranges == 1 ? "one" : "two", text, 5 + 2 * ranges);
    }
}
static size_t btree_query(point q, double radius, hit *hits) {
    box b = around(q.lat, q.lon, radius);
    double values[] = {q.lat, q.lon, radius, b.south, b.north, b.west[0], b.east[0], b.west[1], b.east[1]};
    return run(b.ranges == 1 ? "one" : "two", values, 5 + 2 * b.ranges, hits);
}

// Redis.

static int fd;
static char in[1 << 16];
static size_t have, used;
static char *line(void) {
    for (;;) {
        char *end = memmem(in + used, have - used, "\r\n", 2);
        if (end) {
            char *start = in + used;
            *end = 0, used = (size_t)(end - in) + 2;
            return start;
        }
        memmove(in, in + used, have -= used), used = 0;
        ssize_t n = have < sizeof in ? read(fd, in + have, sizeof in - have) : 0;
        if (n <= 0) fail("redis went away");
        have += (size_t)n;
    }
}
static void say(const char *text, size_t length) {
    while (length) {
        ssize_t n = write(fd, text, length);
        if (n <= 0) fail("redis went away");
        text += n, length -= (size_t)n;
    }
}
static double memory_used(void) {
    say("INFO memory\r\n", 13);
    double bytes = 0;
    long left = atol(line() + 1);
    while (left > 0) {
        char *l = line();
        left -= (long)strlen(l) + 2;
        if (!strncmp(l, "used_memory:", 12)) bytes = atof(l + 12);
    }
    line();
    return bytes;
}
static void redis_begin(void) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(place)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1;
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&a, sizeof a)) fail("redis is not there");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    double before = memory_used(), start = now();
    for (size_t i = 0; i < nrooms;) {
        static char out[1 << 17];
        size_t n = 0, first = i;
        for (; i < nrooms && i < first + 500; i++) {
            n += (size_t)sprintf(out + n, "GEOADD rooms %.17g %.17g ", rooms[i].lon, rooms[i].lat);
            for (int j = 0; j < 16; j++) n += (size_t)sprintf(out + n, "%02x", rooms[i].id[j]);
            n += (size_t)sprintf(out + n, "\r\n");
        }
        say(out, n);
        for (size_t j = first; j < i; j++) refused += line()[0] == '-';
    }
    inserts = now() - start, size = memory_used() - before;
}
static size_t redis_query(point q, double radius, hit *hits) {
    char command[256];
    say(command, (size_t)sprintf(command, "GEOSEARCH rooms FROMLONLAT %.17g %.17g BYRADIUS %.17g m ASC COUNT %zu WITHDIST\r\n", q.lon, q.lat, radius, limit));
    char *answer = line();
    if (answer[0] != '*') return 0;  // Beyond 85.05 degrees it refuses to search.
    size_t n = (size_t)atol(answer + 1);
    for (size_t i = 0; i < n; i++) {
        line(), line();
        char *id = line();
        for (int j = 0; j < 16; j++) sscanf(id + 2 * j, "%2hhx", &hits[i].id[j]);
        line();
        hits[i].distance = atof(line());
    }
    return n;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}
int main(int argc, char **argv) {
    static struct option options[] = {{"rooms", 1, 0, 'r'}, {"queries", 1, 0, 'q'}, {"radii", 1, 0, 'm'}, {"answers", 1, 0, 'a'},
        {"limit", 1, 0, 'l'}, {"rounds", 1, 0, 'n'}, {"at", 1, 0, 'p'}, {0}};
    FILE *answers = NULL;
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (o) {
        case 'r': rooms = contents(optarg, sizeof *rooms, &nrooms); break;
        case 'q': queries = contents(optarg, sizeof *queries, &nqueries); break;
        case 'm': for (char *t = strtok(optarg, ","); t && nradii < 16; t = strtok(NULL, ",")) radii[nradii++] = atof(t); break;
        case 'a': answers = fopen(optarg, "wb"); break;
        case 'l': limit = (size_t)atol(optarg); break;
        case 'n': rounds = atoi(optarg); break;
        case 'p': place = optarg; break;
        default: return 2;
        }
    static struct { const char *name; void (*begin)(void); size_t (*query)(point, double, hit *); } kinds[] = {
        {"truth", NULL, truth}, {"sqlite", sqlite_begin, sqlite_query}, {"postgis", postgis_begin, postgis_query},
        {"btree", btree_begin, btree_query}, {"redis", redis_begin, redis_query}};
    size_t kind = 0;
    while (optind < argc && kind < 5 && strcmp(kinds[kind].name, argv[optind])) kind++;
    if (optind >= argc || kind == 5 || !nrooms || !nqueries || !nradii || !answers || rounds < 1) fail("see the head of nearby.c");
    if (kinds[kind].begin) kinds[kind].begin();
    hit *hits = malloc((limit + 1) * sizeof *hits);
    double *times = malloc(nqueries * sizeof *times), (*taken)[16] = malloc(nqueries * sizeof *taken);
    if (rounds > 16) rounds = 16;
    printf("{\"inserts_s\": %.6f, \"index_bytes\": %.0f, \"refused\": %zu", inserts, size, refused);
    for (int m = 0; m < nradii; m++) {
        for (int round = 0; round < rounds; round++)
            for (size_t i = 0; i < nqueries; i++) {
                double start = now();
                uint64_t n = kinds[kind].query(queries[i], radii[m], hits);
                taken[i][round] = now() - start;
                if (round) continue;
                fwrite(&n, sizeof n, 1, answers);
                for (size_t j = 0; j < n; j++) fwrite(hits[j].id, 16, 1, answers), fwrite(&hits[j].distance, 8, 1, answers);
            }
        for (size_t i = 0; i < nqueries; i++)
            qsort(taken[i], (size_t)rounds, sizeof(double), by_value), times[i] = taken[i][rounds / 2] * 1e6;
        qsort(times, nqueries, sizeof *times, by_value);
        printf(", \"%.0f_us_p50\": %.3f, \"%.0f_us_p99\": %.3f, \"%.0f_us_max\": %.3f", radii[m], times[nqueries / 2], radii[m],
               times[nqueries * 99 / 100], radii[m], times[nqueries - 1]);
    }
    printf("}\n");
    return fclose(answers) ? 2 : 0;
}
