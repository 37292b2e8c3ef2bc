// The parts of zlib that WebSocketCodec uses, with a function in place of each
// macro, because Swift imports functions only.

#ifndef BACKLINE_CZLIB_SHIM_H
#define BACKLINE_CZLIB_SHIM_H

#ifndef ZLIB_CONST
#define ZLIB_CONST
#endif
#include <zlib.h>

// Negative window bits: DEFLATE data (RFC 1951) without a header or a checksum around it.
static inline int backline_inflate_init(z_stream *stream, int window_bits) {
    return inflateInit2(stream, -window_bits);
}
static inline int backline_deflate_init(z_stream *stream, int level, int window_bits, int memory_level) {
    return deflateInit2(stream, level, Z_DEFLATED, -window_bits, memory_level, Z_DEFAULT_STRATEGY);
}

// 16 more window bits: a header and a checksum of gzip (RFC 1952). The header has no time and no name.
static inline int backline_gzip_init(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY);
}

#endif
