#include <zlib.h>

// deflateInit2, a macro, for the gzip format (RFC 1952): 15 bits of window, and 16 to ask for its header and trailer.
static inline int rxzlib_deflate_init_gzip(z_stream *stream) {
    return deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

// inflateInit2, a macro: 15 for the format of zlib (RFC 1950), 15 + 16 for gzip (RFC 1952), -15 for deflate alone (RFC 1951).
static inline int rxzlib_inflate_init(z_stream *stream, int bits) {
    return inflateInit2(stream, bits);
}

// deflateInit2, a macro, for deflate alone (RFC 1951), which a negative number of window bits asks for.
static inline int rxzlib_deflate_init_raw(z_stream *stream, int level, int bits) {
    return deflateInit2(stream, level, Z_DEFLATED, -bits, 8, Z_DEFAULT_STRATEGY);
}
