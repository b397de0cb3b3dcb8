#if Inspector
import Testing

/// The tests of the page of streams, one at a time: all inspectors of the process watch the same streams.
@Suite(.serialized) enum StreamTests {}
#endif
