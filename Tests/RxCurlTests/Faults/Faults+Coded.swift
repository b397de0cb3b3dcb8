import HTTPTypes
import RxHTTP

/// Faults of a coded body.
extension Fault {
    static let coded: [Fault] = [
        sends("gzip", coding: "gzip", Gzip.stored(Array("whole".utf8)), .answers(body: "whole")),
        sends("gzip of nothing at all", coding: "gzip", [], .answers()),
        sends(
            "invalid gzip", coding: "gzip", Array("plain text".utf8),
            .fails(.invalidResponse, status: 200)),
        sends(
            "gzip with a wrong checksum", coding: "gzip",
            Gzip.stored(Array("whole".utf8)).dropLast(8) + [1, 2, 3, 4, 5, 0, 0, 0],
            .fails(.invalidResponse, status: 200)),
        sends(
            "invalid deflate", coding: "deflate", Array("plain text".utf8),
            .fails(.invalidResponse, status: 200)),
        sends(
            "gzip that breaks off in the data", coding: "gzip",
            Gzip.stored(Array("whole".utf8)).dropLast(10), .fails(.partialBody, status: 200)),
        sends(
            "gzip that breaks off in the trailer", coding: "gzip",
            Gzip.stored(Array("whole".utf8)).dropLast(4), .fails(.partialBody, status: 200)),
        sends(
            "codings without end", coding: Array(repeating: "gzip", count: 20).joined(separator: ", "),
            Gzip.stored(Array("whole".utf8)), .fails(.invalidResponse, status: 200)),
        sends(
            "100 MiB of zeros in gzip", coding: "gzip", Gzip.zeros(count: 100 << 20),
            .fails(.tooLarge, status: 200)),
        sends(
            "an unknown content coding", coding: "odd", Array("ok".utf8),
            .answers(body: "ok", fields: [.contentEncoding: "odd"])),
    ]

    #if Brotli
    static let brotli: [Fault] = [
        sends(
            "invalid br", coding: "br", Array(repeating: 0xFF, count: 10),
            .fails(.invalidResponse, status: 200)),
        sends(
            "br that breaks off", coding: "br", Array("plain text".utf8),
            .fails(.partialBody, status: 200)),
        sends("100 MiB of zeros in br", coding: "br", Brotli.zeros, .fails(.tooLarge, status: 200)),
    ]
    #else
    static let brotli: [Fault] = []
    #endif

    #if Zstd
    static let zstd: [Fault] = [
        sends(
            "invalid zstd", coding: "zstd", Array("plain text".utf8),
            .fails(.invalidResponse, status: 200)),
        sends(
            "100 MiB of zeros in zstd", coding: "zstd", Zstd.zeros(count: 100 << 20),
            .fails(.tooLarge, status: 200)),
    ]
    #else
    static let zstd: [Fault] = []
    #endif
}
