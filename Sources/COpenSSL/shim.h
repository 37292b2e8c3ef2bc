// The parts of OpenSSL 3.0 that TLSTransport uses, with a function in place of
// each macro, because Swift imports functions only.

#ifndef BACKLINE_COPENSSL_SHIM_H
#define BACKLINE_COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <openssl/x509_vfy.h>

#if OPENSSL_VERSION_MAJOR < 3
#error "TLSTransport needs OpenSSL 3.0 or newer"
#endif

// Returns whether an error only reports that a deeper layer failed. That layer has left an error of its own.
static inline int backline_error_is_nested(unsigned long code) {
    return !ERR_SYSTEM_ERROR(code) && (ERR_GET_REASON(code) & ERR_RFLAG_COMMON) != 0
        && (ERR_GET_REASON(code) & ~ERR_RFLAG_COMMON) < 256;
}
static inline int backline_error_library(unsigned long code) { return ERR_GET_LIB(code); }
static inline int backline_error_reason(unsigned long code) { return ERR_GET_REASON(code); }

static inline void backline_bio_clear_retry_flags(BIO *bio) { BIO_clear_retry_flags(bio); }
static inline void backline_bio_set_retry_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline int backline_bio_type_source_sink(void) { return BIO_get_new_index() | BIO_TYPE_SOURCE_SINK; }
static inline long backline_bio_memory(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }

// OpenSSL frees both record buffers whenever they are empty. A write that is tried again may pass its
// bytes at another address.
static inline void backline_ctx_set_modes(SSL_CTX *ctx) {
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}
static inline int backline_ctx_set_versions(SSL_CTX *ctx) {
    return SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1
        && SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION) == 1;
}
static inline void backline_ctx_set_options(SSL_CTX *ctx) {
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION
        | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
}
static inline void backline_ctx_session_cache_off(SSL_CTX *ctx) {
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
}
static inline long backline_ssl_set_server_name(SSL *ssl, const char *name) {
    return SSL_set_tlsext_host_name(ssl, name);
}

typedef int (*backline_ticket_callback)(SSL *, unsigned char *, unsigned char *, EVP_CIPHER_CTX *, EVP_MAC_CTX *, int);
static inline int backline_ctx_set_ticket_keys(SSL_CTX *ctx, backline_ticket_callback callback) {
    return (int)SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, callback);
}
// Prepares the ciphers of a ticket (RFC 5077 §4: AES-CBC and HMAC-SHA-256). The key has 16 bytes of name, 32 bytes for
// AES and 32 bytes for HMAC.
static inline int backline_ticket_ciphers(
    EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, const unsigned char *key, const unsigned char *iv, int seals) {
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0), OSSL_PARAM_construct_end()};
    return EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), NULL, key + 16, iv, seals) == 1
        && EVP_MAC_init(mac, key + 48, 32, params) == 1;
}

static inline EVP_PKEY *backline_make_p256_key(void) { return EVP_EC_gen("P-256"); }

#endif
