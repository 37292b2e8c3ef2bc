// wsload - WebSocket fan-out load generator (epoll, OpenSSL, one thread).
//
// Opens N subscriber connections, lets publisher connections send time-stamped
// messages, counts what arrives at the subscribers, and reads the server's CPU
// time and memory from /proc. One JSON line per phase on
// stdout. See README.md.
#define _GNU_SOURCE
#define OPENSSL_SUPPRESS_DEPRECATED
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifdef __AES__
#include <immintrin.h>
#define OWN_TLS 1     // see "own TLS 1.3"
#endif

#ifndef IP_BIND_ADDRESS_NO_PORT
#define IP_BIND_ADDRESS_NO_PORT 24
#endif

typedef uint64_t u64;
typedef uint32_t u32;
typedef uint8_t u8;

// ---------------------------------------------------------------- options
#define MAXHELLO 8
#define MAXHDR 8
#define MAXPUB 256
static struct {
    char host[64], path[512], hosthdr[96];
    int port, tls;
    int n, publishers, pub_self, window, size, conc, spread, cpu, resume, binary, multi;
    double rate, seconds, warmup, settle, drain, hold;
    int wait_first, connect_only, churn, close_rst, nap_us, quiet, skip_pub_hello;
    enum { POLL_BLOCK, POLL_SPIN, POLL_NAP } poll;
    const char *hello[MAXHELLO]; int nhello;
    const char *pub_hello[MAXHELLO]; int npub_hello;
    const char *header[MAXHDR]; int nheader;
    const char *pub_header[MAXHDR]; int npub_header;
    const char *tmpl, *first, *pub_path, *cipher, *group, *label, *subproto;
    int pid, tls12, openssl;
    const char *phases;
} O = { .n = 100, .publishers = 1, .size = 200, .conc = 64, .cpu = -1, .seconds = 5, .warmup = 1,
        .settle = 1, .drain = 3, .poll = POLL_SPIN, .tmpl = "%T%P", .cipher = "TLS_AES_128_GCM_SHA256",
        .label = "" };

// ---------------------------------------------------------------- small helpers
static u64 mono(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (u64)t.tv_sec * 1000000000ull + t.tv_nsec; }
static void die(const char *fmt, ...) {
    va_list ap; va_start(ap, fmt); fprintf(stderr, "wsload: "); vfprintf(stderr, fmt, ap); fputc('\n', stderr); va_end(ap); exit(2);
}
static void note(const char *fmt, ...) {
    if (O.quiet) return;
    va_list ap; va_start(ap, fmt); fprintf(stderr, "wsload: "); vfprintf(stderr, fmt, ap); fputc('\n', stderr); va_end(ap);
}

// log-linear histogram of nanoseconds: 64 sub-buckets per octave (1.6 % resolution)
#define HSUB 64
#define HN (HSUB * 44)
typedef struct { u64 b[HN], n, max; } hist;
static inline void h_add(hist *h, u64 v) {
    u32 i;
    if (v < HSUB) i = (u32)v;
    else { int e = 63 - __builtin_clzll(v); i = (u32)((e - 5) * HSUB + ((v >> (e - 6)) & (HSUB - 1))); }
    if (i >= HN) i = HN - 1;
    h->b[i]++; h->n++; if (v > h->max) h->max = v;
}
static double h_pct(hist *h, double p) {   // microseconds
    if (!h->n) return 0;
    u64 want = (u64)(p * (double)h->n); if (want >= h->n) want = h->n - 1;
    u64 c = 0;
    for (u32 i = 0; i < HN; i++) {
        c += h->b[i];
        if (c > want) {
            double lo, w;
            if (i < HSUB) { lo = i; w = 1; }
            else { int e = (int)(i / HSUB) + 5; w = (double)(1ull << (e - 6)); lo = (double)(1ull << e) + (double)(i % HSUB) * w; }
            double v = (lo + w / 2) / 1000.0, m = (double)h->max / 1000.0;
            return v < m ? v : m;
        }
    }
    return (double)h->max / 1000.0;
}

// ---------------------------------------------------------------- server process statistics
#define MAXPID 256
typedef struct { long rss_kb, pss_kb; double cpu, user, sys; int procs; } pstat;
static int pid_tree(int root, int *out) {   // root and all its living descendants
    static struct { int pid, ppid; } all[32768]; int na = 0, n = 0;
    DIR *d = opendir("/proc"); struct dirent *e;
    if (!d) return 0;
    while ((e = readdir(d))) {
        if (!isdigit((u8)e->d_name[0])) continue;
        char f[300], b[512]; snprintf(f, sizeof f, "/proc/%s/stat", e->d_name);
        FILE *fp = fopen(f, "r"); if (!fp) continue;
        size_t k = fread(b, 1, sizeof b - 1, fp); fclose(fp); b[k] = 0;
        char *r = strrchr(b, ')'); int pp; char st;
        if (!r || sscanf(r + 1, " %c %d", &st, &pp) != 2 || na >= 32768) continue;
        all[na].pid = atoi(e->d_name); all[na++].ppid = pp;
    }
    closedir(d);
    out[n++] = root;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < na && n < MAXPID; j++)
            if (all[j].ppid == out[i] && all[j].pid != out[i]) out[n++] = all[j].pid;
    return n;
}
static pstat server_stat(bool mem) {
    pstat s = {0}; if (!O.pid) return s;
    int pids[MAXPID], n = pid_tree(O.pid, pids);
    for (int i = 0; i < n; i++) {
        char f[300], b[1024];
        snprintf(f, sizeof f, "/proc/%d/stat", pids[i]);
        FILE *fp = fopen(f, "r"); if (!fp) continue;
        size_t k = fread(b, 1, sizeof b - 1, fp); fclose(fp); b[k] = 0;
        char *r = strrchr(b, ')'); unsigned long ut = 0, stm = 0;
        if (r) sscanf(r + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &ut, &stm);
        s.user += (double)ut / 100.0; s.sys += (double)stm / 100.0; s.procs++;
        snprintf(f, sizeof f, "/proc/%d/task", pids[i]);       // precise run time, ns, per thread
        DIR *d = opendir(f); struct dirent *e;
        while (d && (e = readdir(d))) {
            if (!isdigit((u8)e->d_name[0])) continue;
            snprintf(f, sizeof f, "/proc/%d/task/%s/schedstat", pids[i], e->d_name);
            if ((fp = fopen(f, "r"))) { unsigned long long ns = 0; if (fscanf(fp, "%llu", &ns) == 1) s.cpu += (double)ns / 1e9; fclose(fp); }
        }
        if (d) closedir(d);
        if (mem) {
            snprintf(f, sizeof f, "/proc/%d/smaps_rollup", pids[i]);
            if ((fp = fopen(f, "r"))) {
                long v;
                while (fgets(b, sizeof b, fp)) {
                    if (sscanf(b, "Rss: %ld", &v) == 1) s.rss_kb += v;
                    else if (sscanf(b, "Pss: %ld", &v) == 1) s.pss_kb += v;
                }
                fclose(fp);
            }
        }
    }
    return s;
}
typedef struct { double busy, softirq, steal; } sysstat;
static sysstat sys_stat(void) {
    sysstat s = {0}; unsigned long long u, ni, sy, id, io, ir, si, st;
    FILE *fp = fopen("/proc/stat", "r"); if (!fp) return s;
    if (fscanf(fp, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &u, &ni, &sy, &id, &io, &ir, &si, &st) == 8) {
        s.busy = (double)(u + ni + sy + ir + si) / 100.0; s.softirq = (double)(ir + si) / 100.0; s.steal = (double)st / 100.0;
    }
    fclose(fp); return s;
}
static double self_cpu(void) {
    struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
static long sock_mem_pages(void) {   // kernel TCP buffer memory, pages
    FILE *fp = fopen("/proc/net/sockstat", "r"); char b[256]; long v = 0;
    if (!fp) return 0;
    while (fgets(b, sizeof b, fp)) { char *m; if (!strncmp(b, "TCP:", 4) && (m = strstr(b, " mem "))) v = atol(m + 5); }
    fclose(fp); return v;
}

// ---------------------------------------------------------------- connections
enum { S_CLOSED, S_CONNECT, S_TLS, S_HTTP, S_OPEN, S_CLOSING };
typedef struct conn {
    int fd; u8 state, pub, got_first, reused;
    u32 idx, recvd;
    SSL *ssl;
    u8 *left; u32 left_len;          // an incomplete frame or HTTP head
    u32 out_len; u8 *out;            // bytes the kernel did not take yet
    u64 t_start;
    u32 *expect;                     // next expected per-publisher sequence number
    struct tls *tls; struct hs *hs;  // own TLS; otherwise ssl
    u8 *raw; u32 raw_len;            // an incomplete TLS record
} conn;

static conn *conns, *slots; static int nconn;     // subscribers first, then publishers
static conn *pubs[MAXPUB];
static int ep;
static SSL_CTX *ctx; static BIO_METHOD *bm; static SSL_SESSION *last_sess;
static char tls_desc[96] = "";
static int n_open, n_subs_open, n_first, n_fail, n_closed, n_inflight_conn, n_resumed;
static u64 n_handshakes;
static bool stopping;

// receive path: one shared network buffer, one shared plain-text buffer
#define NETCAP (256 * 1024)
#define PCAP (8 * 1024 * 1024)
#define NETHEAD 20480     // room before netbuf for an incomplete TLS record
static u8 *netbuf, *pbuf; static size_t net_pos, net_len; static bool net_more, net_force;

// publish state
#define RING (1u << 16)
#define TOKLEN 31     // t=%017lu-%010lu;
static struct { u32 cnt; u64 t; } *ring;
static u64 run_start, meas_start, meas_end, seq_next, seq_done, in_flight, lost_window, last_progress;
static bool publishing, measuring;
static u64 d_all, d_meas, bytes_meas, frames_other, gaps, dups, stale, sent_meas, echo_meas, wire_bytes_meas, reads_meas;
static hist lat, comp, conn_lat; static u64 pub_late_max;
static u64 next_due, due_interval;
static u64 empty_polls; static double empty_poll_ns;      // how idle the spinning client is
static size_t tok_hint;
static u64 sent_by[MAXPUB];

static void publish_one(u64 now, u64 stamp);
static void conn_start(conn *c);
static void conn_ready(conn *c, u64 now);
static void on_message(conn *c, u8 *p, size_t len, u64 now);

static void net_write(conn *c, const void *b, size_t n) {
    const u8 *p = b;
    if (!c->out_len) {
        while (n) {
            ssize_t w = send(c->fd, p, n, MSG_NOSIGNAL);
            if (w > 0) { p += w; n -= (size_t)w; continue; }
            if (w < 0 && errno == EINTR) continue;
            break;      // EAGAIN, or an error that the read side will see too
        }
    }
    if (n) { c->out = realloc(c->out, c->out_len + n); memcpy(c->out + c->out_len, p, n); c->out_len += (u32)n; }
}
static void net_flush(conn *c) {
    size_t o = 0;
    while (o < c->out_len) {
        ssize_t w = send(c->fd, c->out + o, c->out_len - o, MSG_NOSIGNAL);
        if (w > 0) { o += (size_t)w; continue; }
        if (w < 0 && errno == EINTR) continue;
        break;
    }
    if (o == c->out_len) { free(c->out); c->out = NULL; c->out_len = 0; }
    else if (o) { memmove(c->out, c->out + o, c->out_len - o); c->out_len -= (u32)o; }
}
#ifdef OWN_TLS
static void tx_record(conn *c, int type, const u8 *p, size_t n);
#endif
static void conn_write(conn *c, const void *b, size_t n) {
    if (!n) return;
#ifdef OWN_TLS
    if (c->tls) { for (const u8 *p = b; n;) { size_t k = n < 16384 ? n : 16384; tx_record(c, 23, p, k); p += k; n -= k; } return; }
#endif
    if (c->ssl) { if (SSL_write(c->ssl, b, (int)n) <= 0) ERR_clear_error(); }
    else net_write(c, b, n);
}

// The BIO reads the socket once per event into the shared buffer and serves OpenSSL's small reads from there.
static ssize_t net_fill(conn *c) {     // >0 bytes, 0 end of stream, -1 nothing more now
    if (!net_more) return -1;
    for (;;) {
        ssize_t n = recv(c->fd, netbuf, NETCAP, 0);
        if (n > 0) { net_pos = 0; net_len = (size_t)n; if (n < NETCAP && !net_force) net_more = false; if (measuring) { wire_bytes_meas += (u64)n; reads_meas++; } return n; }
        if (n == 0) return 0;
        if (errno == EINTR) continue;
        if (errno == EAGAIN) { net_more = false; return -1; }
        return 0;
    }
}
static int bio_read(BIO *b, char *dst, int n) {
    BIO_clear_retry_flags(b);
    if (net_pos == net_len) {
        ssize_t k = net_fill(BIO_get_data(b));
        if (k < 0) { BIO_set_retry_read(b); return -1; }
        if (k == 0) return 0;
    }
    size_t have = net_len - net_pos, k = (size_t)n < have ? (size_t)n : have;
    memcpy(dst, netbuf + net_pos, k); net_pos += k;
    return (int)k;
}
static int bio_write(BIO *b, const char *src, int n) { BIO_clear_retry_flags(b); net_write(BIO_get_data(b), src, (size_t)n); return n; }
static long bio_ctrl(BIO *b, int cmd, long x, void *p) { return cmd == BIO_CTRL_FLUSH ? 1 : 0; }
static int bio_create(BIO *b) { BIO_set_init(b, 1); return 1; }
static int accept_any(X509_STORE_CTX *s, void *a) { return 1; }
static int new_session(SSL *s, SSL_SESSION *ss) { if (last_sess) SSL_SESSION_free(last_sess); last_sess = ss; return 1; }

// ---------------------------------------------------------------- own TLS 1.3
// TLS 1.3 with X25519 and TLS_AES_128_GCM_SHA256 only, so that the client stays cheaper than the server: one key share for
// all connections, no look at the certificate or its signature (the server's Finished is checked), records read with AES-NI
// counter mode. The authentication tag is checked on the first records of every connection and on one in 256 after that.
// For the server it is a full handshake like any other. --openssl (or --resume, --tls12, --group, --cipher) uses OpenSSL.
#ifdef OWN_TLS
struct tls { __m128i k[11]; u8 iv[12], key[16]; u64 seq; u8 tkey[16], tiv[12]; u64 tseq; };      // receive, transmit
struct hs { SHA256_CTX tr; u8 secret[32], c_hs[32], s_hs[32], *buf; u32 len; bool keys; };       // while shaking hands
static u64 tags_checked; static bool own_tls;
static EVP_PKEY *my_key; static EVP_PKEY_CTX *my_ctx; static u8 hello_rec[160]; static size_t hello_len;
static u8 derived_early[32];
static const u8 empty_hash[32] = {0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
                                  0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55};
#define KX(i, rc) do { __m128i t = _mm_shuffle_epi32(_mm_aeskeygenassist_si128(k[i - 1], rc), 0xff), v = k[i - 1]; \
    v = _mm_xor_si128(v, _mm_slli_si128(v, 4)); v = _mm_xor_si128(v, _mm_slli_si128(v, 4)); v = _mm_xor_si128(v, _mm_slli_si128(v, 4)); k[i] = _mm_xor_si128(v, t); } while (0)
static void aes_expand(__m128i *k, const u8 *key) {
    k[0] = _mm_loadu_si128((const __m128i *)key);
    KX(1, 0x01); KX(2, 0x02); KX(3, 0x04); KX(4, 0x08); KX(5, 0x10); KX(6, 0x20); KX(7, 0x40); KX(8, 0x80); KX(9, 0x1b); KX(10, 0x36);
}
static void aes_ctr(const __m128i *k, const u8 nonce[12], u8 *out, const u8 *in, size_t n) {    // reads and writes up to 127 bytes past n
    u8 ib[16]; memcpy(ib, nonce, 12); memset(ib + 12, 0, 4);
    __m128i base = _mm_loadu_si128((const __m128i *)ib); u32 c = 2;
    for (size_t o = 0; o < n; o += 128) {
        __m128i b[8];
        for (int i = 0; i < 8; i++) b[i] = _mm_xor_si128(_mm_insert_epi32(base, (int)__builtin_bswap32(c + (u32)i), 3), k[0]);
        for (int r = 1; r < 10; r++) for (int i = 0; i < 8; i++) b[i] = _mm_aesenc_si128(b[i], k[r]);
        for (int i = 0; i < 8; i++) b[i] = _mm_xor_si128(_mm_aesenclast_si128(b[i], k[10]), _mm_loadu_si128((const __m128i *)(in + o + 16 * (size_t)i)));
        for (int i = 0; i < 8; i++) _mm_storeu_si128((__m128i *)(out + o + 16 * (size_t)i), b[i]);
        c += 8;
    }
}
static void hmac(const u8 key[32], const u8 *m, size_t n, u8 out[32]) {
    u8 b[64]; SHA256_CTX x;
    for (int i = 0; i < 64; i++) b[i] = (i < 32 ? key[i] : 0) ^ 0x36;
    SHA256_Init(&x); SHA256_Update(&x, b, 64); SHA256_Update(&x, m, n); SHA256_Final(out, &x);
    for (int i = 0; i < 64; i++) b[i] ^= 0x36 ^ 0x5c;
    SHA256_Init(&x); SHA256_Update(&x, b, 64); SHA256_Update(&x, out, 32); SHA256_Final(out, &x);
}
static void expand_label(u8 *out, size_t n, const u8 secret[32], const char *label, const u8 *ctxh) {    // n <= 32
    u8 m[96], h[32]; size_t l = strlen(label), o = 0;
    m[o++] = 0; m[o++] = (u8)n; m[o++] = (u8)(6 + l); memcpy(m + o, "tls13 ", 6); o += 6; memcpy(m + o, label, l); o += l;
    if (ctxh) { m[o++] = 32; memcpy(m + o, ctxh, 32); o += 32; } else m[o++] = 0;
    m[o++] = 1; hmac(secret, m, o, h); memcpy(out, h, n);
}
static void rx_keys(struct tls *t, const u8 secret[32]) { expand_label(t->key, 16, secret, "key", NULL); expand_label(t->iv, 12, secret, "iv", NULL); aes_expand(t->k, t->key); t->seq = 0; }
static void tx_keys(struct tls *t, const u8 secret[32]) { expand_label(t->tkey, 16, secret, "key", NULL); expand_label(t->tiv, 12, secret, "iv", NULL); t->tseq = 0; }
static void nonce_for(u8 n[12], const u8 iv[12], u64 seq) { memcpy(n, iv, 12); u64 q; memcpy(&q, n + 4, 8); q ^= __builtin_bswap64(seq); memcpy(n + 4, &q, 8); }
static void tag_check(struct tls *r, const u8 *nonce, const u8 *rec, size_t body) {
    static EVP_CIPHER_CTX *e; static u8 *t; int l; size_t n = body - 16;
    if (!e) { e = EVP_CIPHER_CTX_new(); t = malloc(20000); EVP_DecryptInit_ex(e, EVP_aes_128_gcm(), NULL, NULL, NULL); }
    EVP_DecryptInit_ex(e, NULL, NULL, r->key, nonce); EVP_DecryptUpdate(e, NULL, &l, rec, 5); EVP_DecryptUpdate(e, t, &l, rec + 5, (int)n);
    EVP_CIPHER_CTX_ctrl(e, EVP_CTRL_AEAD_SET_TAG, 16, (void *)(rec + 5 + n));
    if (EVP_DecryptFinal_ex(e, t + l, &l) <= 0) die("a TLS record with a wrong authentication tag");
    tags_checked++;
}
static inline int rx_open(struct tls *r, const u8 *rec, size_t body, u8 *d, size_t *len) {     // returns the inner content type
    u8 nonce[12]; nonce_for(nonce, r->iv, r->seq);
    if (r->seq < 3 || (r->seq & 255) == 0) tag_check(r, nonce, rec, body);
    r->seq++;
    size_t m = body - 16;
    aes_ctr(r->k, nonce, d, rec + 5, m);
    while (m && !d[m - 1]) m--;                              // padding
    if (!m) die("empty TLS record");
    *len = m - 1; return d[m - 1];
}
// decrypts the complete records in p[0..n) to out + *have; returns bytes used, or -1 at the end of the stream
static ssize_t rx_records(conn *c, const u8 *p, size_t n, u8 *out, size_t *have, size_t cap) {
    size_t o = 0, m;
    while (n - o >= 5) {
        size_t body = (size_t)p[o + 3] << 8 | p[o + 4];
        if (body > 16640) die("TLS record of %zu bytes", body);
        if (n - o < 5 + body || *have + body + 128 > cap) break;
        if (p[o] == 23 && body > 16) {
            u8 *d = out + *have; int t = rx_open(c->tls, p + o, body, d, &m);
            if (t == 23) *have += m;
            else if (t == 22) { if (m && d[0] == 24) die("the server sent KeyUpdate; use --openssl"); }     // else a session ticket
            else return -1;                                  // alert
        } else if (p[o] != 20) return -1;
        o += 5 + body;
    }
    return (ssize_t)o;
}
static void tx_record(conn *c, int type, const u8 *p, size_t n) {
    static EVP_CIPHER_CTX *e; static u8 rec[17000]; u8 nonce[12]; int l; size_t body = n + 17;
    if (!e) { e = EVP_CIPHER_CTX_new(); EVP_EncryptInit_ex(e, EVP_aes_128_gcm(), NULL, NULL, NULL); }
    rec[0] = 23; rec[1] = 3; rec[2] = 3; rec[3] = (u8)(body >> 8); rec[4] = (u8)body;
    nonce_for(nonce, c->tls->tiv, c->tls->tseq++);
    EVP_EncryptInit_ex(e, NULL, NULL, c->tls->tkey, nonce); EVP_EncryptUpdate(e, NULL, &l, rec, 5);
    memcpy(rec + 5, p, n); rec[5 + n] = (u8)type;
    EVP_EncryptUpdate(e, rec + 5, &l, rec + 5, (int)n + 1); EVP_EncryptFinal_ex(e, rec + 6 + n, &l);
    EVP_CIPHER_CTX_ctrl(e, EVP_CTRL_AEAD_GET_TAG, 16, rec + 6 + n);
    net_write(c, rec, 5 + body);
}
static void own_init(void) {
    u8 pub[32], early[32], zero[32] = {0}; size_t l = 32, o = 0;
    my_key = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
    if (!my_key || EVP_PKEY_get_raw_public_key(my_key, pub, &l) <= 0) die("X25519");
    my_ctx = EVP_PKEY_CTX_new(my_key, NULL);
    hmac(zero, zero, 32, early); expand_label(derived_early, 32, early, "derived", empty_hash);
    static const u8 ext[] = {0, 0x2b, 0, 3, 2, 3, 4,  0, 0x0a, 0, 4, 0, 2, 0, 0x1d,  0, 0x0d, 0, 14, 0, 12, 4, 3, 8, 4, 8, 5, 8, 6, 4, 1, 5, 3,
                             0, 0x2d, 0, 2, 1, 1,  0, 0x33, 0, 0x26, 0, 0x24, 0, 0x1d, 0, 0x20};
    u8 *h = hello_rec; size_t el = sizeof ext + 32, hl = 2 + 32 + 1 + 4 + 2 + 2 + el;
    h[o++] = 22; h[o++] = 3; h[o++] = 1; h[o++] = (u8)((hl + 4) >> 8); h[o++] = (u8)(hl + 4);
    h[o++] = 1; h[o++] = 0; h[o++] = (u8)(hl >> 8); h[o++] = (u8)hl; h[o++] = 3; h[o++] = 3; RAND_bytes(h + o, 32); o += 32;
    h[o++] = 0; h[o++] = 0; h[o++] = 2; h[o++] = 0x13; h[o++] = 1; h[o++] = 1; h[o++] = 0; h[o++] = (u8)(el >> 8); h[o++] = (u8)el;
    memcpy(h + o, ext, sizeof ext); o += sizeof ext; memcpy(h + o, pub, 32); o += 32; hello_len = o;
}
static void own_start(conn *c) {
    static u64 count; u64 x = (++count) * 0x9e3779b97f4a7c15ull; memcpy(hello_rec + 11, &x, 8);      // another random for every connection
    c->tls = aligned_alloc(16, (sizeof *c->tls + 15) & ~(size_t)15); memset(c->tls, 0, sizeof *c->tls);
    c->hs = calloc(1, sizeof *c->hs); SHA256_Init(&c->hs->tr); SHA256_Update(&c->hs->tr, hello_rec + 5, hello_len - 5);
    c->state = S_TLS; net_write(c, hello_rec, hello_len);
}
static void tr_hash(struct hs *h, u8 out[32]) { SHA256_CTX x = h->tr; SHA256_Final(out, &x); }
static const char *own_server_hello(conn *c, const u8 *m, size_t n) {
    struct hs *h = c->hs; size_t o = 4 + 2; const u8 *share = NULL; u8 dh[32], th[32]; size_t dl = 32;
    static const u8 hrr[4] = {0xcf, 0x21, 0xad, 0x74};
    if (n < 44 || !memcmp(m + o, hrr, 4)) return "TLS: the server wants another group, use --openssl";
    o += 32; o += 1u + m[o]; if (o + 5 > n || m[o] != 0x13 || m[o + 1] != 1) return "TLS: the server chose another suite";
    o += 3; size_t end = o + 2 + ((size_t)m[o] << 8 | m[o + 1]); o += 2; if (end > n) return "TLS: bad ServerHello";
    while (o + 4 <= end) {
        size_t t = (size_t)m[o] << 8 | m[o + 1], l = (size_t)m[o + 2] << 8 | m[o + 3];
        if (t == 0x33 && l == 36 && m[o + 5] == 0x1d && o + 4 + l <= end) share = m + o + 8;
        o += 4 + l;
    }
    if (!share) return "TLS: no TLS 1.3 key share from the server";
    EVP_PKEY *peer = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, share, 32);
    bool ok = peer && EVP_PKEY_derive_init(my_ctx) > 0 && EVP_PKEY_derive_set_peer_ex(my_ctx, peer, 0) > 0 && EVP_PKEY_derive(my_ctx, dh, &dl) > 0;
    EVP_PKEY_free(peer); if (!ok) return "TLS: X25519 failed";
    hmac(derived_early, dh, 32, h->secret); tr_hash(h, th);
    expand_label(h->c_hs, 32, h->secret, "c hs traffic", th); expand_label(h->s_hs, 32, h->secret, "s hs traffic", th);
    rx_keys(c->tls, h->s_hs); h->keys = true; return NULL;
}
static void send_request(conn *c);
static const char *own_message(conn *c, const u8 *m, size_t n) {     // one handshake message; on Finished the state becomes S_HTTP
    struct hs *h = c->hs; u8 th[32], fk[32], v[32], d[32], master[32], ap[32], zero[32] = {0}, fin[36];
    if (m[0] == 20 && h->keys) {
        tr_hash(h, th); expand_label(fk, 32, h->s_hs, "finished", NULL); hmac(fk, th, 32, v);
        if (n != 36 || memcmp(v, m + 4, 32)) return "TLS: wrong Finished";
    }
    SHA256_Update(&h->tr, m, n);
    if (m[0] == 2) return own_server_hello(c, m, n);
    if (!h->keys) return "TLS: unexpected message";
    if (m[0] == 13) return "TLS: the server asks for a client certificate";
    if (m[0] != 20) return NULL;
    tr_hash(h, th); expand_label(d, 32, h->secret, "derived", empty_hash); hmac(d, zero, 32, master);
    tx_keys(c->tls, h->c_hs); expand_label(fk, 32, h->c_hs, "finished", NULL);
    fin[0] = 20; fin[1] = fin[2] = 0; fin[3] = 32; hmac(fk, th, 32, fin + 4);
    tx_record(c, 22, fin, 36);
    expand_label(ap, 32, master, "s ap traffic", th); rx_keys(c->tls, ap);
    expand_label(ap, 32, master, "c ap traffic", th); tx_keys(c->tls, ap);
    free(h->buf); free(h); c->hs = NULL;
    if (!*tls_desc) strcpy(tls_desc, "TLSv1.3 TLS_AES_128_GCM_SHA256");
    send_request(c); return NULL;
}
static ssize_t own_handshake(conn *c, const u8 *p, size_t n, const char **why) {    // returns bytes used
    size_t o = 0, m; u8 d[17000];
    while (c->hs && n - o >= 5) {
        size_t body = (size_t)p[o + 3] << 8 | p[o + 4]; const u8 *q = p + o + 5; m = body; int t = p[o];
        if (body > 16640) { *why = "TLS: bad record"; return 0; }
        if (n - o < 5 + body) break;
        struct hs *h = c->hs;
        if (t == 23 && h->keys && body > 16) { t = rx_open(c->tls, p + o, body, d, &m); q = d; }
        o += 5 + body;
        if (t == 20) continue;
        if (t != 22) { static char w[64]; snprintf(w, sizeof w, "TLS: record type %d, alert %d", t, t == 21 && m > 1 ? q[1] : -1); *why = w; return 0; }
        h->buf = realloc(h->buf, h->len + m); memcpy(h->buf + h->len, q, m); h->len += (u32)m;
        size_t u = 0;
        while (c->hs && h->len - u >= 4) {
            size_t l = 4 + ((size_t)h->buf[u + 1] << 16 | (size_t)h->buf[u + 2] << 8 | h->buf[u + 3]);
            if (h->len - u < l) break;
            if ((*why = own_message(c, h->buf + u, l))) return 0;
            u += l;
        }
        if (c->hs && u) { memmove(h->buf, h->buf + u, h->len - u); h->len -= (u32)u; }
    }
    return (ssize_t)o;
}
#endif

static void tls_init(void) {
#ifdef OWN_TLS
    own_tls = !O.openssl && !O.resume && !O.tls12 && !O.group && !strcmp(O.cipher, "TLS_AES_128_GCM_SHA256") && __builtin_cpu_supports("aes");
    if (own_tls) { own_init(); return; }
#endif
    ctx = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_verify(ctx, SSL_VERIFY_NONE, NULL);
    SSL_CTX_set_cert_verify_callback(ctx, accept_any, NULL);
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_options(ctx, SSL_OP_IGNORE_UNEXPECTED_EOF);
    if (!O.tls12) SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION);
    else SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
    if (*O.cipher && !O.tls12 && !SSL_CTX_set_ciphersuites(ctx, O.cipher)) die("bad --cipher %s", O.cipher);
    if (O.group && !SSL_CTX_set1_groups_list(ctx, O.group)) die("bad --group %s", O.group);
    if (O.resume) {
        SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
        SSL_CTX_sess_set_new_cb(ctx, new_session);
    } else SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    bm = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "wsload");
    BIO_meth_set_read(bm, bio_read); BIO_meth_set_write(bm, bio_write);
    BIO_meth_set_ctrl(bm, bio_ctrl); BIO_meth_set_create(bm, bio_create);
}

static void conn_close(conn *c, bool rst) {
    if (c->state == S_CLOSED) return;
    if (c->state == S_OPEN || c->state == S_CLOSING) { n_open--; if (!c->pub) n_subs_open--; }
    if (c->state == S_CONNECT || c->state == S_TLS || c->state == S_HTTP) n_inflight_conn--;
    if (rst) { struct linger l = {1, 0}; setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &l, sizeof l); }
    close(c->fd); c->fd = -1;
    if (c->ssl) { SSL_set_shutdown(c->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN); SSL_free(c->ssl); c->ssl = NULL; }
    free(c->left); c->left = NULL; c->left_len = 0;
    free(c->raw); c->raw = NULL; c->raw_len = 0; 
#ifdef OWN_TLS
    if (c->hs) { free(c->hs->buf); free(c->hs); c->hs = NULL; }
    free(c->tls); c->tls = NULL;
#endif
   
    free(c->out); c->out = NULL; c->out_len = 0;
    c->state = S_CLOSED;
}
static char fail_why[200];
static const char *fail_text(void) {      // fit for a JSON string
    for (char *s = fail_why; *s; s++) if (*s == '"' || *s == '\\' || (u8)*s < 32 || (u8)*s > 126) *s = '\'';
    return fail_why;
}
static void conn_lost(conn *c, const char *why) {     // the server or the network ended it
    u8 st = c->state;
    if (st == S_CLOSED) return;
    if (!*fail_why && st != S_CLOSING) snprintf(fail_why, sizeof fail_why, "conn %u state %d: %s", c->idx, st, why);
    conn_close(c, false);
    if (O.churn) {
        if (st != S_CLOSING) n_fail++;
        if (!stopping) conn_start(c);
        return;
    }
    if (st == S_OPEN) n_closed++; else n_fail++;
}

// ---------------------------------------------------------------- WebSocket out
static size_t ws_frame(u8 *o, int op, const void *payload, size_t n) {
    static const u8 key[4] = {0x5a, 0x13, 0xc7, 0x2e};
    size_t h = 2;
    o[0] = (u8)(0x80 | op);
    if (n < 126) o[1] = (u8)(0x80 | n);
    else if (n < 65536) { o[1] = 0x80 | 126; o[2] = (u8)(n >> 8); o[3] = (u8)n; h = 4; }
    else { o[1] = 0x80 | 127; for (int i = 0; i < 8; i++) o[2 + i] = (u8)((u64)n >> (56 - 8 * i)); h = 10; }
    memcpy(o + h, key, 4); h += 4;
    const u8 *p = payload;
    for (size_t i = 0; i < n; i++) o[h + i] = p[i] ^ key[i & 3];
    return h + n;
}
static void ws_send(conn *c, int op, const void *p, size_t n) {
    static u8 *b; static size_t cap;
    if (cap < n + 16) b = realloc(b, cap = n + 4096);
    conn_write(c, b, ws_frame(b, op, p, n));
}
static size_t unescape(char *d, const char *s) {     // C escapes in --hello and --template
    char *o = d;
    for (; *s; s++) {
        if (*s == '\\' && s[1]) {
            s++;
            *o++ = *s == 'r' ? '\r' : *s == 'n' ? '\n' : *s == 't' ? '\t' : *s == '0' ? '\0' : *s == 'e' ? 0x1e : *s;
        } else *o++ = *s;
    }
    *o = 0; return (size_t)(o - d);
}
static void send_hellos(conn *c) {
    int n = c->pub && (O.npub_hello || O.skip_pub_hello) ? O.npub_hello : O.nhello;
    const char **h = c->pub && (O.npub_hello || O.skip_pub_hello) ? O.pub_hello : O.hello;
    for (int i = 0; i < n; i++) {
        char a[8192], *o = a, idx[16]; snprintf(idx, sizeof idx, "%u", c->idx);
        for (const char *s = h[i]; *s && o < a + sizeof a - 32; s++) {
            if (s[0] == '%' && s[1] == 'd') { o = stpcpy(o, idx); s++; }
            else if (s[0] == '%' && s[1] == '%') { *o++ = '%'; s++; }
            else *o++ = *s;
        }
        *o = 0;
        char b[8192]; size_t len = unescape(b, a);
        ws_send(c, O.binary ? 2 : 1, b, len);
    }
}

// ---------------------------------------------------------------- frames in
static void on_frame(conn *c, int op, u8 *p, size_t len, u64 now) {
    if (op <= 2) { on_message(c, p, len, now); return; }
    if (op == 9) { ws_send(c, 10, p, len); return; }
    if (op == 8) {
        if (c->state == S_CLOSING) { conn_lost(c, "close reply"); return; }
        if (!*fail_why) snprintf(fail_why, sizeof fail_why, "conn %u: server sent Close %d %.*s", c->idx, len >= 2 ? p[0] << 8 | p[1] : 0, len > 2 ? (int)(len - 2) : 0, len > 2 ? (char *)p + 2 : "");
        ws_send(c, 8, p, len < 2 ? 0 : 2);
        conn_lost(c, "close frame");
    }
}
static size_t parse_frames(conn *c, u8 *p, size_t n, u64 now) {
    size_t o = 0;
    while (n - o >= 2) {
        u8 b0 = p[o], b1 = p[o + 1]; u64 len = b1 & 127; size_t h = 2;
        if (len == 126) { if (n - o < 4) break; len = (u64)p[o + 2] << 8 | p[o + 3]; h = 4; }
        else if (len == 127) { if (n - o < 10) break; len = 0; for (int i = 0; i < 8; i++) len = len << 8 | p[o + 2 + i]; h = 10; }
        if (len > PCAP / 2) die("frame of %llu bytes: not a WebSocket stream?", (unsigned long long)len);
        if (b1 & 0x80) die("server sent a masked frame");
        if (n - o < h + len) break;
        on_frame(c, b0 & 15, p + o + h, (size_t)len, now);
        o += h + (size_t)len;
        if (c->state == S_CLOSED || c->state < S_OPEN) return n;
    }
    return o;
}
static size_t parse_http(conn *c, u8 *p, size_t n, u64 now) {
    u8 *e = memmem(p, n, "\r\n\r\n", 4);
    if (!e) { if (n > 65536) { conn_lost(c, "no end of HTTP head"); return n; } return 0; }
    if (n < 12 || memcmp(p, "HTTP/1.1 101", 12)) {
        char w[120]; snprintf(w, sizeof w, "HTTP answer: %.*s", (int)((u8 *)memchr(p, '\r', n) - p), p);
        conn_lost(c, w); return n;
    }
    if (!memmem(p, (size_t)(e - p), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", 28)) { conn_lost(c, "wrong Sec-WebSocket-Accept"); return n; }
    conn_ready(c, now);
    size_t o = (size_t)(e + 4 - p);
    if (c->state == S_OPEN) o += parse_frames(c, p + o, n - o, now);
    return o;
}
static void conn_input(conn *c) {      // read until the socket is empty
    for (;;) {
        size_t have = c->left_len; bool end = false, dry = false;
        if (have) { memcpy(pbuf, c->left, have); free(c->left); c->left = NULL; c->left_len = 0; }
#ifdef OWN_TLS
        if (c->tls) {
            ssize_t k = 1;
            if (net_pos == net_len) k = net_fill(c);
            if (k < 0) dry = true;
            else if (k == 0) end = true;
            else {
                size_t rl = c->raw_len, n, u = 0; u8 *p = netbuf + net_pos - rl;
                if (rl) { memcpy(p, c->raw, rl); free(c->raw); c->raw = NULL; c->raw_len = 0; }
                n = net_len - net_pos + rl; net_pos = net_len;
                if (c->hs) {
                    const char *why = NULL; u = (size_t)own_handshake(c, p, n, &why);
                    if (why) { conn_lost(c, why); return; }
                }
                if (!c->hs) {
                    ssize_t v = rx_records(c, p + u, n - u, pbuf, &have, PCAP);
                    if (v < 0) { end = true; u = n; } else u += (size_t)v;
                }
                if (u < n) { c->raw_len = (u32)(n - u); if (c->raw_len > NETHEAD) die("record buffer"); c->raw = malloc(c->raw_len); memcpy(c->raw, p + u, c->raw_len); }
                if (!net_more) dry = true;
            }
        } else
#endif
        if (c->ssl) {
            while (PCAP - have > 20000) {
                size_t k = 0;
                if (SSL_read_ex(c->ssl, pbuf + have, PCAP - have, &k)) { have += k; if (net_pos == net_len && !net_more) { dry = true; break; } continue; }
                int e = SSL_get_error(c->ssl, 0);
                if (e == SSL_ERROR_WANT_READ || e == SSL_ERROR_WANT_WRITE) dry = true; else { ERR_clear_error(); end = true; }
                break;
            }
        } else {
            ssize_t k = net_fill(c);
            if (k < 0) dry = true;
            else if (k == 0) end = true;
            else { memcpy(pbuf + have, netbuf, (size_t)k); have += (size_t)k; net_pos = net_len; if (!net_more) dry = true; }
        }
        if (have && c->state >= S_HTTP) {
            u64 now = mono();
            size_t used = c->state == S_HTTP ? parse_http(c, pbuf, have, now) : parse_frames(c, pbuf, have, now);
            if (c->state == S_CLOSED || c->state == S_CONNECT) return;
            if (used < have) { c->left_len = (u32)(have - used); c->left = malloc(c->left_len); memcpy(c->left, pbuf + used, c->left_len); }
        }
        if (end) { conn_lost(c, "end of stream"); return; }
        if (dry) return;
    }
}

// ---------------------------------------------------------------- connecting
static char *http_req_sub, *http_req_pub;
static char *make_req(const char *path, const char **header, int nheader) {
    char *r; size_t n; FILE *f = open_memstream(&r, &n);
    fprintf(f, "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n", path, O.hosthdr);
    if (O.subproto) fprintf(f, "Sec-WebSocket-Protocol: %s\r\n", O.subproto);
    for (int i = 0; i < nheader; i++) fprintf(f, "%s\r\n", header[i]);
    fprintf(f, "\r\n"); fclose(f); return r;
}
static void send_request(conn *c) {
    c->state = S_HTTP;
    // %d in the path is the connection index
    char *r = c->pub ? http_req_pub : http_req_sub, *m = strstr(r, "%d");
    if (!m) { conn_write(c, r, strlen(r)); return; }
    char b[4096]; int n = snprintf(b, sizeof b, "%.*s%u%s", (int)(m - r), r, c->idx, m + 2);
    conn_write(c, b, (size_t)n);
}
static void tls_step(conn *c) {
    int r = SSL_connect(c->ssl);
    if (r == 1) {
        if (!*tls_desc) snprintf(tls_desc, sizeof tls_desc, "%s %s", SSL_get_version(c->ssl), SSL_get_cipher_name(c->ssl));
        if (SSL_session_reused(c->ssl)) n_resumed++;
        send_request(c);
        conn_input(c);
        return;
    }
    int e = SSL_get_error(c->ssl, r);
    if (e == SSL_ERROR_WANT_READ || e == SSL_ERROR_WANT_WRITE) return;
    char w[160]; unsigned long q = ERR_peek_error(); snprintf(w, sizeof w, "TLS: %s", q ? ERR_reason_error_string(q) : "connection closed");
    ERR_clear_error(); conn_lost(c, w);
}
static void conn_up(conn *c) {     // TCP is established
    int e = 0; socklen_t l = sizeof e; getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &e, &l);
    if (e) { conn_lost(c, strerror(e)); return; }
#ifdef OWN_TLS
    if (own_tls) { own_start(c); return; }
#endif
    if (O.tls) {
        c->ssl = SSL_new(ctx);
        SSL_set_app_data(c->ssl, c);
        BIO *b = BIO_new(bm); BIO_set_data(b, c); SSL_set_bio(c->ssl, b, b);
        if (O.resume && last_sess) SSL_set_session(c->ssl, last_sess);
        c->state = S_TLS; tls_step(c);
    } else send_request(c);
}
static void conn_start(conn *c) {
    static u64 counter;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) die("socket: %s", strerror(errno));
    int one = 1; setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (O.spread) {
        setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
        struct sockaddr_in s = {.sin_family = AF_INET};
        s.sin_addr.s_addr = htonl(0x7f000002u + (u32)(counter++ % (u32)O.spread));
        if (bind(fd, (void *)&s, sizeof s)) die("bind: %s", strerror(errno));
    }
    c->fd = fd; c->state = S_CONNECT; c->t_start = mono(); c->recvd = 0; c->got_first = 0;
    n_inflight_conn++;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)O.port)};
    inet_pton(AF_INET, O.host, &a.sin_addr);
    if (connect(fd, (void *)&a, sizeof a) && errno != EINPROGRESS) {
        char w[80]; snprintf(w, sizeof w, "connect: %s", strerror(errno));
        if (O.churn) die("%s", w);
        conn_lost(c, w); return;
    }
    struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
}
static void churn_done(conn *c) {
    n_handshakes++;
    if (O.close_rst) { conn_close(c, true); if (!stopping) conn_start(c); }
    else { static const u8 code[2] = {3, 232}; ws_send(c, 8, code, 2); c->state = S_CLOSING; }
}
static void conn_ready(conn *c, u64 now) {     // got 101
    c->state = S_OPEN; n_inflight_conn--; n_open++; if (!c->pub) n_subs_open++;
    h_add(&conn_lat, now - c->t_start);
    send_hellos(c);
    if (O.churn && !O.wait_first) churn_done(c);
}
static void on_event(conn *c, u32 ev) {
    net_pos = net_len = 0; net_more = true; net_force = (ev & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    switch (c->state) {
    case S_CLOSED: return;
    case S_CONNECT: if (ev & (EPOLLOUT | EPOLLERR | EPOLLHUP)) conn_up(c); return;
    case S_TLS: if (c->out_len && (ev & EPOLLOUT)) net_flush(c); if (c->ssl) tls_step(c); else conn_input(c); return;
    default:
        if (c->out_len && (ev & EPOLLOUT)) net_flush(c);
        if (ev & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) conn_input(c);
    }
}

// ---------------------------------------------------------------- publishing and counting
static u8 *tmpl_buf; static size_t tmpl_len; static size_t tok_at[16]; static int ntok;
static void template_init(void) {      // expand %P (padding) once; remember where %T goes
    char *raw = malloc(strlen(O.tmpl) + 1); size_t rl = unescape(raw, O.tmpl), fixed = 0; int pads = 0;
    for (size_t i = 0; i < rl; i++) {
        if (raw[i] == '%' && i + 1 < rl) {
            char k = raw[i + 1];
            if (k == 'T') { fixed += TOKLEN; i++; continue; }
            if (k == 'P') { pads++; i++; continue; }
            if (k == '%') i++;
        }
        fixed++;
    }
    size_t pad = pads && (size_t)O.size > fixed ? (size_t)O.size - fixed : 0;
    tmpl_buf = malloc(fixed + pad + 1); size_t o = 0; bool first = true;
    for (size_t i = 0; i < rl; i++) {
        if (raw[i] == '%' && i + 1 < rl) {
            char k = raw[i + 1];
            if (k == 'T') { if (ntok < 16) tok_at[ntok++] = o; memset(tmpl_buf + o, '0', TOKLEN); o += TOKLEN; i++; continue; }
            if (k == 'P') {
                if (first) for (size_t j = 0; j < pad; j++) tmpl_buf[o++] = (u8)('a' + j % 23);
                first = false; i++; continue;
            }
            if (k == '%') i++;
        }
        tmpl_buf[o++] = (u8)raw[i];
    }
    tmpl_len = o; free(raw);
    if (!ntok) die("--template has no %%T");
}
static void put_dec(u8 *d, int w, u64 v) { while (w--) { d[w] = (u8)('0' + v % 10); v /= 10; } }
static void publish_one(u64 now, u64 stamp) {
    u64 s = seq_next++; int p = (int)(s % (u64)O.publishers);
    for (int i = 0; i < ntok; i++) {
        u8 *t = tmpl_buf + tok_at[i];
        t[0] = 't'; t[1] = '='; put_dec(t + 2, 17, stamp); t[19] = '-'; put_dec(t + 20, 10, s); t[30] = ';';
    }
    ring[s % RING].cnt = 0; ring[s % RING].t = stamp;
    in_flight++; sent_by[p]++;
    if (measuring) { sent_meas++; if (now > stamp && now - stamp > pub_late_max) pub_late_max = now - stamp; }
    if (pubs[p]->state == S_OPEN) ws_send(pubs[p], O.binary ? 2 : 1, tmpl_buf, tmpl_len);
}
static inline u8 *find_tok(u8 *p, u8 *end) {
    while (end - p >= TOKLEN) {
        u8 *q = memmem(p, (size_t)(end - p), "t=", 2);
        if (!q || end - q < TOKLEN) return NULL;
        if (q[19] == '-' && q[30] == ';') return q;
        p = q + 2;
    }
    return NULL;
}
static inline u64 get_dec(const u8 *p, int n) { u64 v = 0; while (n--) v = v * 10 + (u64)(*p++ - '0'); return v; }
static void on_token(conn *c, const u8 *t, u64 now, size_t framelen) {
    u64 ts = get_dec(t + 2, 17), s = get_dec(t + 20, 10);
    if (ts < run_start || s >= seq_next) { stale++; return; }      // left over from an earlier run
    bool timed = measuring && ts >= meas_start;
    if (c->pub) { if (measuring) echo_meas++; if (!O.pub_self) return; }
    u32 p = (u32)(s % (u64)O.publishers), k = (u32)(s / (u64)O.publishers);
    if (k == c->expect[p]) c->expect[p]++;
    else if (k > c->expect[p]) { gaps += k - c->expect[p]; c->expect[p] = k + 1; }
    else { dups++; return; }
    c->recvd++; d_all++;
    if (measuring) { d_meas++; bytes_meas += framelen; }
    if (timed) h_add(&lat, now - ts);
    if (seq_next - s <= RING && ++ring[s % RING].cnt == (u32)n_subs_open + (O.pub_self ? (u32)O.publishers : 0)) {
        if (timed) h_add(&comp, now - ring[s % RING].t);
        seq_done++; if (in_flight) in_flight--; last_progress = now;
        if (O.window && publishing) while (in_flight < (u64)O.window) { u64 t2 = mono(); publish_one(t2, t2); }
    }
}
static void on_message(conn *c, u8 *p, size_t len, u64 now) {
    if (!c->got_first && (!O.first || memmem(p, len, O.first, strlen(O.first)))) {
        c->got_first = 1; n_first++;
        if (O.churn) { if (O.wait_first && c->state == S_OPEN) churn_done(c); return; }
    }
    if (!run_start) return;
    u8 *t = NULL, *end = p + len;
    if (tok_hint + TOKLEN <= len) { u8 *q = p + tok_hint; if (q[0] == 't' && q[1] == '=' && q[19] == '-' && q[30] == ';') t = q; }
    if (!t && (t = find_tok(p, end))) tok_hint = (size_t)(t - p);
    if (!t) { frames_other++; return; }
    on_token(c, t, now, len);
    if (O.multi) while ((t = find_tok(t + TOKLEN, end))) on_token(c, t, now, 0);
}

// ---------------------------------------------------------------- event loop
#define NEV 256
static void poll_once(u64 until, bool publish_phase) {     // handle one batch of events; wait at most till `until`
    static struct epoll_event ev[NEV];
    int n;
    if (publish_phase && O.poll != POLL_BLOCK) {
        n = epoll_wait(ep, ev, NEV, 0);
        if (n == 0 && measuring) empty_polls++;
        if (n == 0 && O.poll == POLL_NAP) { struct timespec t = {0, O.nap_us * 1000L}; clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL); }
    } else {
        u64 now = mono(); struct timespec t = {0, 0};
        if (until > now) { t.tv_sec = (time_t)((until - now) / 1000000000ull); t.tv_nsec = (long)((until - now) % 1000000000ull); }
        n = epoll_pwait2(ep, ev, NEV, &t, NULL);
    }
    for (int i = 0; i < n; i++) {
        on_event(ev[i].data.ptr, ev[i].events);
        if (next_due && publishing) {
            u64 now = mono();
            while (publishing && now >= next_due) { publish_one(now, next_due); next_due += due_interval; }
        }
    }
}
static void run_until(u64 t, bool publish_phase) {
    for (u64 now; (now = mono()) < t;) {
        if (publishing && next_due) while (now >= next_due) { publish_one(now, next_due); next_due += due_interval; }
        if (publishing && O.window) {
            if (in_flight && now - last_progress > 2000000000ull) { lost_window += in_flight; in_flight = 0; last_progress = now; }
            while (in_flight < (u64)O.window) { u64 t2 = mono(); publish_one(t2, t2); last_progress = t2; }
        }
        u64 w = t; if (publishing && next_due && next_due < w) w = next_due;
        if (publishing && O.window && now + 100000000ull < w) w = now + 100000000ull;
        poll_once(w, publish_phase);
    }
}

// ---------------------------------------------------------------- main
static void usage(void) {
    fprintf(stderr,
"usage: wsload [options] ws[s]://127.0.0.1:PORT/PATH\n"
"  -n, --connections N     subscribers (100)\n"
"  -c, --concurrency C     connections being set up at once (64)\n"
"      --hello STR         text message sent after the handshake; %%d = index, \\r \\n \\e(0x1e) escapes; may be repeated\n"
"      --wait-first        wait until each connection has received one message\n"
"      --first TEXT        the same, until each has received a message that holds TEXT\n"
"  -p, --publishers P      extra publishing connections (1)\n"
"      --pub-self          the first P subscribers publish instead\n"
"      --pub-path PATH     another path for the publishers\n"
"      --pub-hello STR     another hello for the publishers ('' = none)\n"
"  -r, --rate R            open loop: R messages/s in all\n"
"  -w, --window W          closed loop: W messages in flight\n"
"  -s, --size BYTES        payload size (200)\n"
"      --template STR      payload; %%T = time token (t=<17 digits>-<10 digits>;), %%P = padding up to --size\n"
"      --phases LIST       several phases on the same connections, e.g. w1:3,w4:3,r5:4,r20:3 (w = window, r = rate, :seconds);\n"
"                          one JSON line for each\n"
"      --multi             a frame may hold several tokens\n"
"      --binary            send binary frames\n"
"  -t, --seconds S         measured time (5)      --warmup S (1)  --settle S (1)  --drain S (3)\n"
"      --connect-only      connect, report memory and rate      --hold S  then keep them S seconds\n"
"      --churn             connect and disconnect for --seconds with --concurrency slots; --close rst|clean\n"
"      --resume            TLS session resumption\n"
"      --cipher NAME       TLS 1.3 suite (TLS_AES_128_GCM_SHA256; '' = library default)   --group NAME   --tls12\n"
"      --openssl           TLS by OpenSSL (default: own TLS 1.3 client, cheaper; same load for the server)\n"
"      --pid PID           server process, children included\n"
"      --poll MODE         spin (default), block, or nap:MICROSECONDS while publishing\n"
"      --cpu K             pin wsload to CPU K\n"
"      --spread K          source addresses 127.0.0.2 ... (automatic above 28000 connections and for --churn)\n"
"      --header 'K: V'     extra request header; --pub-header 'K: V': the publishers' instead\n"
"      --subprotocol NAME      --label STR      -q\n");
    exit(2);
}
static void parse_url(const char *u) {
    const char *p;
    if (!strncmp(u, "ws://", 5)) p = u + 5; else if (!strncmp(u, "wss://", 6)) { p = u + 6; O.tls = 1; } else { usage(); return; }
    const char *sl = strchr(p, '/'), *e = sl ? sl : p + strlen(p), *co = memchr(p, ':', (size_t)(e - p));
    snprintf(O.host, sizeof O.host, "%.*s", (int)((co ? co : e) - p), p);
    if (!strcmp(O.host, "localhost")) strcpy(O.host, "127.0.0.1");
    O.port = co ? atoi(co + 1) : O.tls ? 443 : 80;
    snprintf(O.hosthdr, sizeof O.hosthdr, "%.*s", (int)(e - p), p);
    snprintf(O.path, sizeof O.path, "%s", sl ? sl : "/");
    if (strncmp(O.host, "127.", 4)) die("only 127.0.0.0/8 is a target");
}
static void mem_json(FILE *f, const char *k, pstat *s) { fprintf(f, ",\"%s_rss_kb\":%ld,\"%s_pss_kb\":%ld", k, s->rss_kb, k, s->pss_kb); }
static void publish_phase(const char *head, pstat *s0, int live) {
    int nsubs = n_subs_open + (O.pub_self ? O.publishers : 0);
    memset(&lat, 0, sizeof lat); memset(&comp, 0, sizeof comp); pub_late_max = 0;
    d_all = d_meas = bytes_meas = frames_other = gaps = dups = stale = sent_meas = echo_meas = wire_bytes_meas = reads_meas = 0;
    in_flight = lost_window = empty_polls = 0; u64 seq0 = seq_next; seq_done = seq_next;
    for (int i = 0; i < nconn; i++) for (int p = 0; p < O.publishers; p++)
        conns[i].expect[p] = (u32)((seq_next + (u64)O.publishers - 1 - (u64)p) / (u64)O.publishers);
    // ---- publish
    struct epoll_event tmp[1]; u64 z0 = mono(); int ep0 = epoll_create1(0);
    for (int i = 0; i < 2000; i++) { epoll_wait(ep0, tmp, 1, 0); (void)mono(); }
    empty_poll_ns = (double)(mono() - z0) / 2000.0; close(ep0);
    publishing = true; run_start = last_progress = mono();
    if (O.rate > 0) { due_interval = (u64)(1e9 / O.rate); next_due = run_start + due_interval; if (!due_interval) due_interval = 1; }
    run_until(run_start + (u64)(O.warmup * 1e9), true);
    int closed0 = n_closed; pstat a = server_stat(false); sysstat ya = sys_stat(); double c0 = self_cpu();
    meas_start = mono(); measuring = true;
    run_until(meas_start + (u64)(O.seconds * 1e9), true);
    measuring = false; meas_end = mono();
    pstat b = server_stat(false); sysstat yb = sys_stat(); double c1 = self_cpu();
    publishing = false; next_due = 0;
    u64 lim = mono() + (u64)(O.drain * 1e9);
    while (seq_done + lost_window < seq_next && mono() < lim) poll_once(mono() + 20000000ull, true);
    pstat s2 = server_stat(true);
    u64 expected = (seq_next - seq0) * (u64)nsubs;
    double el = (double)(meas_end - meas_start) / 1e9, cpu = b.cpu - a.cpu;
    u64 tot = d_meas + (O.pub_self ? 0 : echo_meas);
    printf("%s,\"load\":\"%s\",\"window\":%d,\"rate\":%.3f,\"size\":%zu,\"seconds\":%.3f,\"sent\":%llu,\"sent_per_s\":%.1f,\"deliveries\":%llu,\"deliveries_per_s\":%.0f,\"payload_bytes\":%llu,\"wire_bytes\":%llu,\"client_reads\":%llu",
           head, O.window ? "closed" : "open", O.window, O.rate, tmpl_len, el, (unsigned long long)sent_meas, (double)sent_meas / el, (unsigned long long)d_meas, (double)d_meas / el,
           (unsigned long long)bytes_meas, (unsigned long long)wire_bytes_meas, (unsigned long long)reads_meas);
    printf(",\"missing\":%lld,\"gaps\":%llu,\"dups\":%llu,\"stale\":%llu,\"other_frames\":%llu,\"publisher_echoes\":%llu,\"closed\":%d,\"stalled_messages\":%llu",
           (long long)(expected - d_all), (unsigned long long)gaps, (unsigned long long)dups, (unsigned long long)stale, (unsigned long long)frames_other,
           (unsigned long long)echo_meas, n_closed - closed0, (unsigned long long)lost_window);
    printf(",\"lat_us\":{\"p50\":%.0f,\"p90\":%.0f,\"p99\":%.0f,\"p999\":%.0f,\"max\":%.0f},\"last_recipient_us\":{\"p50\":%.0f,\"p99\":%.0f,\"max\":%.0f},\"publish_late_us_max\":%.0f",
           h_pct(&lat, .5), h_pct(&lat, .9), h_pct(&lat, .99), h_pct(&lat, .999), (double)lat.max / 1e3,
           h_pct(&comp, .5), h_pct(&comp, .99), (double)comp.max / 1e3, (double)pub_late_max / 1e3);
    printf(",\"server_cpu_s\":%.3f,\"server_user_s\":%.2f,\"server_sys_s\":%.2f,\"server_cpu_pct\":%.1f,\"server_cpu_us_per_delivery\":%.3f",
           cpu, b.user - a.user, b.sys - a.sys, cpu * 100 / el, tot ? cpu * 1e6 / (double)tot : 0);
    // share of the time in which the client was not waiting for the server
    double busy = O.poll == POLL_SPIN ? 100.0 - (double)empty_polls * empty_poll_ns / el / 1e7 : (c1 - c0) * 100.0 / el;
    printf(",\"client_busy_pct\":%.1f", busy < 0 ? 0 : busy);
    printf(",\"client_cpu_s\":%.3f,\"client_cpu_us_per_delivery\":%.3f,\"system_busy_s\":%.2f,\"system_softirq_s\":%.2f,\"steal_s\":%.2f",
           c1 - c0, tot ? (c1 - c0) * 1e6 / (double)tot : 0, yb.busy - ya.busy, yb.softirq - ya.softirq, yb.steal - ya.steal);
    mem_json(stdout, "after", &s2);
    printf(",\"after_rss_bytes_per_conn\":%.0f", live ? (double)(s2.rss_kb - s0->rss_kb) * 1024.0 / live : 0);
    if (*fail_why) printf(",\"first_failure\":\"%s\"", fail_text());
    printf("}\n"); fflush(stdout);
}

int main(int argc, char **argv) {
    enum { X_HELLO = 256, X_WAIT, X_SELF, X_PPATH, X_PHELLO, X_TMPL, X_MULTI, X_BIN, X_WARM, X_SETTLE, X_DRAIN, X_CONN, X_HOLD, X_CHURN,
           X_CLOSE, X_RESUME, X_CIPHER, X_GROUP, X_TLS12, X_PID, X_POLL, X_CPU, X_SPREAD, X_HEADER, X_SUB, X_LABEL, X_PHASES, X_OPENSSL, X_FIRST, X_PHEADER };
    static const struct option lo[] = {
        {"connections", 1, 0, 'n'}, {"concurrency", 1, 0, 'c'}, {"hello", 1, 0, X_HELLO}, {"wait-first", 0, 0, X_WAIT}, {"first", 1, 0, X_FIRST}, {"pub-header", 1, 0, X_PHEADER},
        {"publishers", 1, 0, 'p'}, {"pub-self", 0, 0, X_SELF}, {"pub-path", 1, 0, X_PPATH}, {"pub-hello", 1, 0, X_PHELLO},
        {"rate", 1, 0, 'r'}, {"window", 1, 0, 'w'}, {"size", 1, 0, 's'}, {"template", 1, 0, X_TMPL}, {"multi", 0, 0, X_MULTI},
        {"binary", 0, 0, X_BIN}, {"seconds", 1, 0, 't'}, {"warmup", 1, 0, X_WARM}, {"settle", 1, 0, X_SETTLE}, {"drain", 1, 0, X_DRAIN},
        {"connect-only", 0, 0, X_CONN}, {"hold", 1, 0, X_HOLD}, {"churn", 0, 0, X_CHURN}, {"close", 1, 0, X_CLOSE},
        {"resume", 0, 0, X_RESUME}, {"cipher", 1, 0, X_CIPHER}, {"group", 1, 0, X_GROUP}, {"tls12", 0, 0, X_TLS12}, {"pid", 1, 0, X_PID},
        {"poll", 1, 0, X_POLL}, {"cpu", 1, 0, X_CPU}, {"spread", 1, 0, X_SPREAD}, {"header", 1, 0, X_HEADER},
        {"subprotocol", 1, 0, X_SUB}, {"phases", 1, 0, X_PHASES}, {"openssl", 0, 0, X_OPENSSL}, {"label", 1, 0, X_LABEL}, {"quiet", 0, 0, 'q'}, {"help", 0, 0, 'h'}, {0, 0, 0, 0}};
    for (int o; (o = getopt_long(argc, argv, "n:c:p:r:w:s:t:qh", lo, NULL)) != -1;) switch (o) {
        case 'n': O.n = atoi(optarg); break;
        case 'c': O.conc = atoi(optarg); break;
        case 'p': O.publishers = atoi(optarg); break;
        case 'r': O.rate = atof(optarg); break;
        case 'w': O.window = atoi(optarg); break;
        case 's': O.size = atoi(optarg); break;
        case 't': O.seconds = atof(optarg); break;
        case 'q': O.quiet = 1; break;
        case X_HELLO: if (O.nhello < MAXHELLO) O.hello[O.nhello++] = optarg; break;
        case X_WAIT: O.wait_first = 1; break;
        case X_FIRST: O.wait_first = 1; O.first = optarg; break;
        case X_SELF: O.pub_self = 1; break;
        case X_PPATH: O.pub_path = optarg; break;
        case X_PHELLO: if (!*optarg) O.skip_pub_hello = 1; else if (O.npub_hello < MAXHELLO) O.pub_hello[O.npub_hello++] = optarg; break;
        case X_TMPL: O.tmpl = optarg; break;
        case X_MULTI: O.multi = 1; break;
        case X_BIN: O.binary = 1; break;
        case X_WARM: O.warmup = atof(optarg); break;
        case X_SETTLE: O.settle = atof(optarg); break;
        case X_DRAIN: O.drain = atof(optarg); break;
        case X_CONN: O.connect_only = 1; break;
        case X_HOLD: O.hold = atof(optarg); break;
        case X_CHURN: O.churn = 1; break;
        case X_CLOSE: O.close_rst = !strcmp(optarg, "rst"); break;
        case X_RESUME: O.resume = 1; break;
        case X_CIPHER: O.cipher = optarg; break;
        case X_GROUP: O.group = optarg; break;
        case X_TLS12: O.tls12 = 1; break;
        case X_PID: O.pid = atoi(optarg); break;
        case X_POLL:
            if (!strcmp(optarg, "spin")) O.poll = POLL_SPIN; else if (!strcmp(optarg, "block")) O.poll = POLL_BLOCK;
            else if (!strncmp(optarg, "nap:", 4)) { O.poll = POLL_NAP; O.nap_us = atoi(optarg + 4); } else usage();
            break;
        case X_CPU: O.cpu = atoi(optarg); break;
        case X_SPREAD: O.spread = atoi(optarg); break;
        case X_HEADER: if (O.nheader < MAXHDR) O.header[O.nheader++] = optarg; break;
        case X_PHEADER: if (O.npub_header < MAXHDR) O.pub_header[O.npub_header++] = optarg; break;
        case X_SUB: O.subproto = optarg; break;
        case X_LABEL: O.label = optarg; break;
        case X_OPENSSL: O.openssl = 1; break;
        case X_PHASES: O.phases = optarg; break;
        default: usage();
    }
    if (optind != argc - 1) usage();
    parse_url(argv[optind]);
    if (O.connect_only) O.publishers = 0;
    if (O.churn) { O.publishers = 0; if (!O.spread) O.spread = 32; }
    if (O.publishers > MAXPUB || O.publishers < 0 || (O.pub_self && O.publishers > O.n)) die("bad --publishers");
    if (!O.connect_only && !O.churn && !O.publishers) die("needs a publisher");
    if (!O.connect_only && !O.churn && !O.phases && O.rate <= 0 && O.window <= 0) O.window = 1;
    if (O.rate > 0 && O.window > 0) die("--rate or --window, not both");

    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_TIMERSLACK, 1);
    struct rlimit rl = {1048576, 1048576};
    if (setrlimit(RLIMIT_NOFILE, &rl)) { getrlimit(RLIMIT_NOFILE, &rl); rl.rlim_cur = rl.rlim_max; setrlimit(RLIMIT_NOFILE, &rl); }
    if (O.cpu >= 0) { cpu_set_t cs; CPU_ZERO(&cs); CPU_SET(O.cpu, &cs); if (sched_setaffinity(0, sizeof cs, &cs)) die("--cpu %d: %s", O.cpu, strerror(errno)); }
    if (O.pid && kill(O.pid, 0)) die("no process %d", O.pid);

    int nsub = O.churn ? O.conc : O.n;
    nconn = nsub + (O.pub_self ? 0 : O.publishers);
    if (nconn > 28000 && !O.spread) O.spread = nconn / 28000 + 1;
    netbuf = (u8 *)aligned_alloc(4096, NETHEAD + NETCAP + 4096) + NETHEAD; pbuf = aligned_alloc(4096, PCAP);
    ring = calloc(RING, sizeof *ring); slots = conns = calloc((size_t)nconn, sizeof *conns);
    u32 *ex = calloc((size_t)nconn * (size_t)(O.publishers ? O.publishers : 1), sizeof *ex);
    for (int i = 0; i < nconn; i++) { conns[i].fd = -1; conns[i].idx = (u32)i; conns[i].expect = ex + (size_t)i * (size_t)(O.publishers ? O.publishers : 1); }
    for (int i = 0; i < O.publishers; i++) { pubs[i] = &conns[O.pub_self ? i : nsub + i]; pubs[i]->pub = 1; }
    ep = epoll_create1(EPOLL_CLOEXEC);
    if (O.tls) tls_init();
    http_req_sub = make_req(O.path, O.header, O.nheader);
    http_req_pub = make_req(O.pub_path ? O.pub_path : O.path, O.npub_header ? O.pub_header : O.header, O.npub_header ? O.npub_header : O.nheader);
    if (O.publishers) template_init();

    char *head; size_t head_len; FILE *H;
    pstat s0 = server_stat(true); long tm0 = sock_mem_pages();

    if (O.churn) {
        pstat a = server_stat(false); sysstat ya = sys_stat(); double ca = self_cpu(); u64 t0 = mono();
        for (int i = 0; i < nconn; i++) conn_start(&conns[i]);
        run_until(t0 + (u64)(O.seconds * 1e9), false);
        u64 t1 = mono(); pstat b = server_stat(false); sysstat yb = sys_stat(); double cb = self_cpu(), el = (double)(t1 - t0) / 1e9;
        u64 h = n_handshakes; int opened = n_open, res = n_resumed; stopping = true;
        for (int i = 0; i < nconn; i++) conn_close(&conns[i], true);
        usleep(500000); pstat s2 = server_stat(true);
        printf("{\"tool\":\"wsload\",\"label\":\"%s\",\"url\":\"%s\"", O.label, argv[optind]);
        printf(",\"mode\":\"churn\",\"tls\":\"%s\",\"slots\":%d,\"seconds\":%.3f,\"handshakes\":%llu,\"handshakes_per_s\":%.0f,\"failed\":%d,\"resumed\":%d,\"still_open\":%d",
               tls_desc, nconn, el, (unsigned long long)h, (double)h / el, n_fail, res, opened);
        printf(",\"connect_us_p50\":%.0f,\"connect_us_p99\":%.0f,\"server_cpu_s\":%.3f,\"server_cpu_us_per_handshake\":%.1f,\"client_cpu_s\":%.3f,\"system_busy_s\":%.2f",
               h_pct(&conn_lat, .5), h_pct(&conn_lat, .99), b.cpu - a.cpu, h ? (b.cpu - a.cpu) * 1e6 / (double)h : 0, cb - ca, yb.busy - ya.busy);
        mem_json(stdout, "before", &s0); mem_json(stdout, "after", &s2);
        if (*fail_why) printf(",\"first_failure\":\"%s\"", fail_text());
        printf("}\n"); return n_fail && !h;
    }

    // ---- connect
    note("connecting %d (%d publishers) to %s", nconn, O.publishers, argv[optind]);
    double ca = self_cpu(); u64 t0 = mono(), lastp = t0; int started = 0, seen = -1;
    while (n_open + n_fail + n_closed < nconn) {
        while (started < nconn && n_inflight_conn < O.conc) conn_start(&conns[started++]);
        poll_once(mono() + 100000000ull, false);
        u64 now = mono();
        if (n_open != seen) { seen = n_open; lastp = now; }
        if (now - lastp > 10000000000ull) { note("connecting stalled: %d open, %d failed, %d in progress", n_open, n_fail, n_inflight_conn); break; }
        if (n_fail > 100 && n_fail > n_open) break;
    }
    double t_conn = (double)(mono() - t0) / 1e9; pstat sc = server_stat(false); double cc = self_cpu();
    note("%d open, %d failed in %.2f s%s%s", n_open, n_fail, t_conn, *fail_why ? "; first failure: " : "", fail_why);
    double t_first = 0;
    if (O.wait_first) {
        u64 lim = mono() + 20000000000ull;
        while (n_first < n_open && mono() < lim) poll_once(mono() + 100000000ull, false);
        t_first = (double)(mono() - t0) / 1e9;
        note("%d of %d connections have received a first message after %.2f s", n_first, n_open, t_first);
    }
    u64 ti0 = mono(); pstat i0 = server_stat(false);
    run_until(mono() + (u64)(O.settle * 1e9), false);
    pstat s1 = server_stat(true); u64 ti1 = mono(); long tm1 = sock_mem_pages();
    int live = n_open, connected = n_open;
    H = open_memstream(&head, &head_len);
    fprintf(H, "{\"tool\":\"wsload\",\"label\":\"%s\",\"url\":\"%s\"", O.label, argv[optind]);
    fprintf(H, ",\"mode\":\"%s\",\"tls\":\"%s\",\"connections\":%d,\"publishers\":%d,\"failed\":%d,\"connect_s\":%.3f,\"connects_per_s\":%.0f,\"connect_us_p50\":%.0f,\"connect_us_p99\":%.0f",
           O.connect_only ? "connect-only" : "publish", tls_desc, n_subs_open + (O.pub_self ? O.publishers : 0), O.publishers, n_fail, t_conn, (double)connected / t_conn,
           h_pct(&conn_lat, .5), h_pct(&conn_lat, .99));
    fprintf(H, ",\"first_message_s\":%.3f,\"first_messages\":%d,\"connect_server_cpu_us\":%.1f,\"connect_client_cpu_us\":%.1f", t_first, n_first,
           connected ? (sc.cpu - s0.cpu) * 1e6 / connected : 0, connected ? (cc - ca) * 1e6 / connected : 0);
    mem_json(H, "before", &s0); mem_json(H, "idle", &s1);
    fprintf(H, ",\"idle_rss_bytes_per_conn\":%.0f,\"idle_pss_bytes_per_conn\":%.0f,\"kernel_tcp_bytes_per_conn\":%.0f,\"idle_server_cpu_pct\":%.2f",
           live ? (double)(s1.rss_kb - s0.rss_kb) * 1024.0 / live : 0, live ? (double)(s1.pss_kb - s0.pss_kb) * 1024.0 / live : 0,
           live ? (double)(tm1 - tm0) * 4096.0 / live : 0, ti1 > ti0 ? (s1.cpu - i0.cpu) * 1e11 / (double)(ti1 - ti0) : 0);

    fclose(H);
    if (O.connect_only) { printf("%s", head); if (*fail_why) printf(",\"first_failure\":\"%s\"", fail_text()); printf("}\n"); fflush(stdout); }
    else {
        int bad = 0; for (int i = 0; i < O.publishers; i++) if (pubs[i]->state != S_OPEN) bad++;
        if (bad || !n_open) { printf("%s,\"error\":\"publisher not connected\",\"first_failure\":\"%s\"}\n", head, fail_text()); return 1; }
        if (!O.phases) publish_phase(head, &s0, live);
        else for (const char *q = O.phases; q && *q; q = strchr(q, ',') ? strchr(q, ',') + 1 : NULL) {
            char kind; double v, sec;
            if (sscanf(q, "%c%lf:%lf", &kind, &v, &sec) != 3 || (kind != 'w' && kind != 'r')) die("bad --phases at %s", q);
            O.window = kind == 'w' ? (int)v : 0; O.rate = kind == 'r' ? v : 0; O.seconds = sec;
            publish_phase(head, &s0, live);
        }
    }
    if (O.hold > 0) run_until(mono() + (u64)(O.hold * 1e9), false);
    for (int i = 0; i < nconn; i++) if (conns[i].fd >= 0) conn_close(&conns[i], false);
    return n_fail > 0;
}
