import RxNetworking

/// The options of the command line.
struct Options {
    var keepsCookies = false
    var cookieFile: String?
    var cache: ResponseCache?
    /// HTTP/1.1 with every libcurl, unless HTTP/2 is requested.
    var configuration = {
        var configuration = CurlTransport.Configuration()
        configuration.httpVersion = .http1
        return configuration
    }()

    static let help = """
        Drives the client by JSON lines: commands on standard input, answers on standard output.

        usage: conformance-driver [--cookies] [--cookie-file FILE] [--proxy URL] [--cacert FILE] [--http2]
                                  [--cache private|off]

          --cookies            keeps cookies while it runs; "credentials":"omit" goes without
          --cookie-file FILE   keeps them in FILE, session cookies too, written at the end of input as well
          --proxy URL          sends everything through this proxy
          --cacert FILE        trusts the authorities in this PEM file
          --http2              speaks HTTP/2 where the server does; HTTP/1.1 without it
          --cache private|off  keeps answers in memory while it runs, by RFC 9111, as a private cache; off is the default

        commands:
          {"op":"fetch","id":1,"method":"GET","url":"…","headers":[["k","v"]],"bodyBase64":"…",
           "cache":"default|no-store|reload|no-cache|force-cache|only-if-cached",
           "redirect":"follow|manual|error","credentials":"include|omit"}
            → {"id":1,"status":200,"statusText":"OK","url":"final url","headers":[["k","v"]],"bodyBase64":"…",
               "interim":[[103,[["k","v"]]]],"fromCache":false}
          {"op":"cancel","id":1}     → {"id":1,"error":"cancelled","message":"…"} if it had not ended; also for
                                       pages and event sources
          {"op":"sse-open","id":2,"url":"…","headers":[["k","v"]]}
            → {"id":2,"sse":"open"}
            → {"id":2,"sse":"message","type":"message","data":"…","lastEventId":"…"}
            → {"id":2,"sse":"error","reconnecting":true}, with the "code" and the "message" of an error where
               there was one; "reconnecting":false is the end
          {"op":"sse-close","id":2}  ends it without an answer
          {"op":"pages","id":3,"url":"…"}
            → {"id":3,"page":1,"url":"…","status":200,"items":30} for each page of a Link chain
            → {"id":3,"end":true}

        An id is a number or a text, and free again when its operation has ended. Only "op", "id" and "url" must be
        there. Whatever fails answers {"id":1,"error":"code","message":"…"}, where the code is the NetworkError's,
        "cancelled", or "invalidCommand" for a line that is none. A fetch is one exchange: no status is an error and
        nothing is tried again. "cache" means what it means to fetch, and nothing with --cache off; "fromCache" tells
        whether the body was kept from before. "only-if-cached" without anything kept answers a 504. At the end of input event sources are
        closed, and the driver ends when all else has.
        """

    /// - Throws: a readable description of the error.
    init(_ arguments: some Sequence<String>) throws(OptionError) {
        var rest = Array(arguments)[...]
        while let flag = rest.popFirst() {
            switch flag {
            case "--cookies": keepsCookies = true
            case "--cookie-file": cookieFile = try Self.value(of: flag, &rest)
            case "--proxy": configuration.proxy = Proxy(try Self.value(of: flag, &rest))
            case "--cacert": configuration.tls.caBundlePath = try Self.value(of: flag, &rest)
            case "--http2": configuration.httpVersion = .http2
            case "--cache":
                switch try Self.value(of: flag, &rest) {
                case "private": cache = ResponseCache()
                case "off": cache = nil
                default: throw OptionError("--cache is private or off")
                }
            case "--help", "-h": throw OptionError(nil)
            default: throw OptionError("\(flag) is no option")
            }
        }
    }

    private static func value(
        of flag: String, _ rest: inout ArraySlice<String>
    ) throws(OptionError) -> String {
        guard let value = rest.popFirst() else { throw OptionError("\(flag) needs a value") }
        return value
    }

    var client: Client {
        var client = ClientConfiguration()
        if let cookieFile {
            client.cookies = CookieJar(file: cookieFile, keepsSessionCookies: true)
        } else if keepsCookies {
            client.cookies = CookieJar()
        }
        return Client(
            baseURL: "", configuration: client,
            transport: CurlTransport(loop: .shared, configuration: configuration))
    }
}

/// An invalid command line; without a message, a request for help.
struct OptionError: Error {
    let problem: String?

    init(_ problem: String?) { self.problem = problem }
}
