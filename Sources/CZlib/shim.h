#include <zlib.h>

// deflateInit2, a macro, for the gzip format (RFC 1952): 15 bits of window, and 16 to ask for its header and trailer.
static inline int rxzlib_deflate_init_gzip(z_stream *stream) {
    return deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}
