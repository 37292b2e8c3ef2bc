// floor - what one broadcast delivery costs at least on this machine.
// A server with no WebSocket logic: it answers every upgrade with a fixed text (wsload always sends the same key),
// and writes each message that any client sends to every connection in a plain loop, one write per connection:
// no queues, no back-pressure, no partial-write handling, no rooms. Use it with wsload like any other server.
//   floor PORT MODE [tcp congestion control]
//   MODE  plain   send()
//         ssl     SSL_write() per connection (OpenSSL, TLS 1.3)
//         evp     TLS 1.3 records made here with EVP AES-128-GCM, then send()
//         plain-uring, evp-uring   the same, but 256 sends per system call through io_uring (needs liburing-dev to build)
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef HAVE_URING
#include <liburing.h>
#endif

enum { PLAIN, SSLW, EVP };
typedef struct conn { int fd, slot, open, hs; SSL *ssl; EVP_CIPHER_CTX *enc; uint8_t iv[12]; uint64_t seq; uint8_t *in; size_t in_len; } conn;
static int mode, ep, uring; static conn **live; static int nlive; static unsigned long dropped;
static const char answer[] = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

static void expand_label(uint8_t *out, size_t n, const uint8_t *secret, size_t slen, const char *label) {
    uint8_t info[64]; size_t l = strlen(label), o = 0;
    info[o++] = 0; info[o++] = (uint8_t)n; info[o++] = (uint8_t)(6 + l); memcpy(info + o, "tls13 ", 6); o += 6; memcpy(info + o, label, l); o += l; info[o++] = 0;
    EVP_KDF *k = EVP_KDF_fetch(NULL, "HKDF", NULL); EVP_KDF_CTX *c = EVP_KDF_CTX_new(k); int m = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
    OSSL_PARAM p[] = {OSSL_PARAM_utf8_string(OSSL_KDF_PARAM_DIGEST, "SHA256", 6), OSSL_PARAM_int(OSSL_KDF_PARAM_MODE, &m),
                      OSSL_PARAM_octet_string(OSSL_KDF_PARAM_KEY, (void *)secret, slen), OSSL_PARAM_octet_string(OSSL_KDF_PARAM_INFO, info, o), OSSL_PARAM_END};
    if (EVP_KDF_derive(c, out, n, p) <= 0) abort();
    EVP_KDF_CTX_free(c); EVP_KDF_free(k);
}
static void keylog(const SSL *s, const char *line) {
    const char *tag = "SERVER_TRAFFIC_SECRET_0 "; if (strncmp(line, tag, strlen(tag))) return;
    const char *h = strrchr(line, ' ') + 1; uint8_t sec[32], key[16]; conn *c = SSL_get_app_data(s);
    for (int i = 0; i < 32; i++) { unsigned v; sscanf(h + 2 * i, "%2x", &v); sec[i] = (uint8_t)v; }
    expand_label(key, 16, sec, 32, "key"); expand_label(c->iv, 12, sec, 32, "iv");
    c->enc = EVP_CIPHER_CTX_new(); EVP_EncryptInit_ex(c->enc, EVP_aes_128_gcm(), NULL, key, NULL);
}
#ifdef HAVE_URING
static struct io_uring ring; static uint8_t *arena; static size_t arena_at, queued;
#define BATCH 256
static void uring_flush(void) {
    if (!queued) return;
    io_uring_submit(&ring); queued = 0; arena_at = 0;       // a send that fits into the socket buffer is done when this returns
    struct io_uring_cqe *q; while (io_uring_peek_cqe(&ring, &q) == 0) { if (q->res < 0) dropped++; io_uring_cqe_seen(&ring, q); }
}
static void uring_send(conn *c, const uint8_t *p, size_t n) {
    struct io_uring_sqe *q = io_uring_get_sqe(&ring); uint8_t *b = (uint8_t *)p;
    if (mode != PLAIN) { b = arena + arena_at; memcpy(b, p, n); arena_at += n; }
    io_uring_prep_send(q, c->fd, b, n, MSG_NOSIGNAL | MSG_DONTWAIT); q->flags |= IOSQE_CQE_SKIP_SUCCESS;
    if (++queued == BATCH) uring_flush();
}
#endif
static void put_raw(conn *c, const uint8_t *p, size_t n) {
#ifdef HAVE_URING
    if (uring && c->open) { uring_send(c, p, n); return; }
#endif
    if (send(c->fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)n) dropped++; }
static void put(conn *c, const uint8_t *p, size_t n) {
    if (mode == PLAIN) { put_raw(c, p, n); return; }
    if (mode == SSLW) { if (SSL_write(c->ssl, p, (int)n) <= 0) { dropped++; ERR_clear_error(); } return; }
    static uint8_t rec[17000]; uint8_t nonce[12]; int l; size_t body = n + 1 + 16;
    rec[0] = 23; rec[1] = 3; rec[2] = 3; rec[3] = (uint8_t)(body >> 8); rec[4] = (uint8_t)body;
    memcpy(nonce, c->iv, 12); for (int i = 0; i < 8; i++) nonce[4 + i] ^= (uint8_t)(c->seq >> (56 - 8 * i)); c->seq++;
    EVP_EncryptInit_ex(c->enc, NULL, NULL, NULL, nonce);
    EVP_EncryptUpdate(c->enc, NULL, &l, rec, 5);
    memcpy(rec + 5, p, n); rec[5 + n] = 23;
    EVP_EncryptUpdate(c->enc, rec + 5, &l, rec + 5, (int)n + 1);
    EVP_EncryptFinal_ex(c->enc, rec + 5 + n + 1, &l);
    EVP_CIPHER_CTX_ctrl(c->enc, EVP_CTRL_AEAD_GET_TAG, 16, rec + 5 + n + 1);
    put_raw(c, rec, 5 + body);
}
static void drop(conn *c) {
    if (c->open) { live[c->slot] = live[--nlive]; live[c->slot]->slot = c->slot; }
    close(c->fd); if (c->ssl) SSL_free(c->ssl); if (c->enc) EVP_CIPHER_CTX_free(c->enc); free(c->in); free(c);
}
static int eat(conn *c, const uint8_t *b, size_t n) {     // returns 0 when the connection is to be dropped
    c->in = realloc(c->in, c->in_len + n + 1); memcpy(c->in + c->in_len, b, n); c->in_len += n;
    for (;;) {
        if (!c->open) {
            uint8_t *e = memmem(c->in, c->in_len, "\r\n\r\n", 4); if (!e) return 1;
            size_t u = (size_t)(e + 4 - c->in); memmove(c->in, c->in + u, c->in_len -= u);
            put(c, (const uint8_t *)answer, sizeof answer - 1); c->open = 1; c->slot = nlive; live[nlive++] = c;
        }
        if (c->in_len < 6) break;
        size_t l = c->in[1] & 127, h = 2; if (l == 126) { l = (size_t)c->in[2] << 8 | c->in[3]; h = 4; } else if (l == 127) return 0;
        if (c->in_len < h + 4 + l) break;
        int op = c->in[0] & 15; uint8_t *k = c->in + h, *p = k + 4; uint8_t f[70000]; size_t o;
        if (op == 8) return 0;
        if (op <= 2) {
            f[0] = (uint8_t)(0x80 | op); if (l < 126) { f[1] = (uint8_t)l; o = 2; } else { f[1] = 126; f[2] = (uint8_t)(l >> 8); f[3] = (uint8_t)l; o = 4; }
            for (size_t i = 0; i < l; i++) f[o + i] = p[i] ^ k[i & 3];
            for (int i = 0; i < nlive; i++) put(live[i], f, o + l);
#ifdef HAVE_URING
            if (uring) uring_flush();
#endif
           
        }
        size_t u = h + 4 + l; memmove(c->in, c->in + u, c->in_len -= u);
    }
    if (!c->in_len) { free(c->in); c->in = NULL; }
    return 1;
}
int main(int argc, char **argv) {
    if (argc < 3) return 2;
    signal(SIGPIPE, SIG_IGN); struct rlimit rl = {300000, 300000}; setrlimit(RLIMIT_NOFILE, &rl);
    mode = !strncmp(argv[2], "ssl", 3) ? SSLW : !strncmp(argv[2], "evp", 3) ? EVP : PLAIN; uring = strstr(argv[2], "-uring") != NULL && mode != SSLW; live = calloc(300000, sizeof *live);
    if (uring) {
#ifdef HAVE_URING
        struct io_uring_params pr = {.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN}; arena = malloc(BATCH * 17000);
        int r = io_uring_queue_init_params(BATCH, &ring, &pr); if (r) { fprintf(stderr, "io_uring: %s\n", strerror(-r)); return 1; }
#else
        fprintf(stderr, "built without liburing\n"); return 1;
#endif
    }
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method()); SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION); SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
    const char *cert = getenv("CERT") ? getenv("CERT") : "cert.pem", *key = getenv("KEY") ? getenv("KEY") : "key.pem";
    if (mode != PLAIN && (SSL_CTX_use_certificate_chain_file(ctx, cert) != 1 || SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1)) { fprintf(stderr, "cannot read %s, %s\n", cert, key); return 1; }
    if (mode == EVP) { SSL_CTX_set_keylog_callback(ctx, keylog); SSL_CTX_set_num_tickets(ctx, 0); SSL_CTX_set_ciphersuites(ctx, "TLS_AES_128_GCM_SHA256"); }
    int ls = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1; setsockopt(ls, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (argc > 3) setsockopt(ls, IPPROTO_TCP, TCP_CONGESTION, argv[3], (socklen_t)strlen(argv[3]));
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(ls, (void *)&a, sizeof a) || listen(ls, 4096)) { perror("listen"); return 1; }
    ep = epoll_create1(0); struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL}; epoll_ctl(ep, EPOLL_CTL_ADD, ls, &e);
    for (;;) {
        struct epoll_event ev[256]; int n = epoll_wait(ep, ev, 256, -1);
        for (int i = 0; i < n; i++) {
            conn *c = ev[i].data.ptr;
            if (!c) {
                for (int fd; (fd = accept4(ls, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
                    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                    c = calloc(1, sizeof *c); c->fd = fd;
                    if (mode != PLAIN) { c->ssl = SSL_new(ctx); SSL_set_app_data(c->ssl, c); SSL_set_fd(c->ssl, fd); SSL_set_accept_state(c->ssl); } else c->hs = 1;
                    e.events = EPOLLIN; e.data.ptr = c; epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
                }
                continue;
            }
            static uint8_t b[65536]; int alive = 1;
            if (!c->hs) {
                int r = SSL_do_handshake(c->ssl);
                if (r != 1) { if (SSL_get_error(c->ssl, r) != SSL_ERROR_WANT_READ) { ERR_clear_error(); drop(c); } continue; }
                c->hs = 1;
            }
            for (;;) {
                ssize_t k = c->ssl ? SSL_read(c->ssl, b, sizeof b) : recv(c->fd, b, sizeof b, 0);
                if (k > 0) { if (!eat(c, b, (size_t)k)) { alive = 0; break; } continue; }
                if (c->ssl ? SSL_get_error(c->ssl, (int)k) != SSL_ERROR_WANT_READ : !(k < 0 && errno == EAGAIN)) { alive = 0; ERR_clear_error(); }
                break;
            }
            if (!alive) drop(c);
        }
    }
}
