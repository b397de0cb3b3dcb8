import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

extension NginxServer {
    /// The response to `/json`: one object of 61 bytes.
    public static let json = #"{"id":7,"name":"green tea","price":4.25,"stock":12,"ok":true}"#

    /// The response to `/items`: ten objects in 809 bytes.
    public static let items: String = {
        let names = [
            "assam", "sencha", "oolong", "pu-erh", "rooibos", "matcha", "earl grey", "darjeeling",
            "chamomile", "lapsang",
        ]
        let objects = names.enumerated().map { index, name in
            #"{"id":\#(index + 1),"name":"\#(name)","price":\#(2.25 + Double(index) * 0.5),"#
                + #""stock":\#(10 * (index + 1)),"organic":\#(index % 2 == 0),"tags":["tea"]}"#
        }
        return "[" + objects.joined(separator: ",") + "]"
    }()

    /// The response to `/large`: 16 MiB in which no block of eight bytes occurs twice.
    public static let large = unsafe [UInt8](unsafeUninitializedCapacity: 16 << 20) { buffer, count in
        unsafe buffer.withMemoryRebound(to: UInt64.self) { blocks in
            for index in blocks.indices {
                unsafe blocks[index] = (UInt64(index) &* 0x9E37_79B9_7F4A_7C15).littleEndian
            }
        }
        count = 16 << 20
    }

    /// The response to `/text`: 41 kB that compress well, sent with gzip if the client accepts it.
    public static let text = String(repeating: "It compresses well, since it repeats it.\n", count: 1000)

    /// The statuses with a path `/status/NNN`.
    public static let statuses = [
        200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 408, 409, 410, 413, 422, 425, 429, 500, 501, 502,
        503, 504, 505,
    ]

    /// The statuses with a path `/redirect/NNN`, which leads to `/echo`.
    public static let redirects = [301, 302, 303, 307, 308]

    /// The ports that nginx listens on.
    struct Ports {
        let plain, tls, http2, certificates, tls13, http1TLS: UInt16
    }

    static func writeFiles(in folder: String, _ ports: Ports) throws {
        func write(_ bytes: some Sequence<UInt8>, _ name: String) throws {
            try Data(bytes).write(to: URL(filePath: "\(folder)/\(name)"))
        }
        try write(configuration(folder: folder, ports).utf8, "nginx.conf")
        try write(locations(folder: folder, ports).utf8, "locations.conf")
        try write(large, "large")
        try write(text.utf8, "text")
    }

    private static func configuration(folder: String, _ ports: Ports) -> String {
        """
        daemon off;
        # Not master_process off: with inherited sockets that crashes (1.22.1).
        \(geteuid() == 0 ? "user root;" : "")
        worker_processes 1;
        pid nginx.pid;
        error_log error.log warn;
        events { worker_connections 4096; }
        http {
            access_log off;
            server_tokens off;
            absolute_redirect off;
            keepalive_requests 1000000000;
            client_max_body_size 64m;
            client_body_buffer_size 1m;
            client_body_temp_path body;
            proxy_temp_path proxy;
            fastcgi_temp_path fastcgi;
            uwsgi_temp_path uwsgi;
            scgi_temp_path scgi;
            gzip_types text/plain;
            default_type application/octet-stream;
            root \(folder);

            server {
                listen 127.0.0.1:\(ports.plain);
                listen 127.0.0.1:\(ports.tls) ssl http2 default_server;
                listen 127.0.0.1:\(ports.http2) http2;
                listen unix:\(folder)/\(socketName);
                server_name localhost;
                ssl_certificate certificate.pem;
                ssl_certificate_key key.pem;

                include locations.conf;
            }
            server {
                listen 127.0.0.1:\(ports.tls13) ssl http2;
                server_name localhost;
                ssl_certificate certificate.pem;
                ssl_certificate_key key.pem;
                ssl_protocols TLSv1.3;
                include locations.conf;
            }
            # Few streams at a time, and few in all.
            server {
                listen 127.0.0.1:\(ports.tls13) ssl http2;
                server_name limited.test;
                ssl_certificate certificate.pem;
                ssl_certificate_key key.pem;
                ssl_protocols TLSv1.3;
                http2_max_concurrent_streams 4;
                keepalive_requests 50;
                include locations.conf;
            }
            server {
                listen 127.0.0.1:\(ports.http1TLS) ssl;
                server_name localhost;
                ssl_certificate certificate.pem;
                ssl_certificate_key key.pem;
                include locations.conf;
            }
            \(certificateServers(ports))
        }
        """
    }

    /// The locations on every port except ``certificatePort``.
    private static func locations(folder: String, _ ports: Ports) -> String {
        let codes = statuses.map { code in
            let text = code == 204 || code == 304 ? "" : #" '{"status":\#(code),"message":"as asked"}'"#
            return "location = /status/\(code) { default_type application/json; return \(code)\(text); }"
        }
        let hops = redirects.map { "location = /redirect/\($0) { return \($0) /echo; }" }
        return """
            location = /ready { return 200; }
            location = /json { default_type application/json; return 200 '\(json)'; }
            location = /items { default_type application/json; return 200 '\(items)'; }
            location = /large { }
            location = /slow { alias \(folder)/large; limit_rate 64k; }
            location = /text { default_type text/plain; gzip on; }

            # What nginx made of the request. Values are not escaped: send none that need it.
            location = /echo {
                default_type application/json;
                add_header X-Method $request_method always;
                return 200 '{"method":"$request_method","target":"$request_uri","test":"$http_x_test",\
            "authorization":"$http_authorization","cookie":"$http_cookie","contentType":"$content_type",\
            "contentLength":"$content_length","expect":"$http_expect","accept":"$http_accept",\
            "encoding":"$http_accept_encoding","agent":"$http_user_agent","protocol":"$server_protocol",\
            "scheme":"$scheme","connection":"$connection","request":"$connection_requests","remote":"$remote_addr",\
            "host":"$host"}';
            }
            # The body as text, without line ends: nginx reads it only to pass it on, here to itself.
            location = /echo/body {
                proxy_pass http://127.0.0.1:\(ports.plain)/echo/field;
                proxy_set_header X-Body $request_body;
                proxy_pass_request_body off;
                proxy_set_header Content-Length "";
            }
            location = /echo/field { default_type text/plain; return 200 $http_x_body; }
            # Takes a body of any size and tells how long it was.
            location = /upload {
                proxy_pass http://127.0.0.1:\(ports.plain)/uploaded;
            }
            location = /uploaded { default_type text/plain; return 200 $content_length; }
            # Passes on a change of the protocol as well: ?port=.
            location = /upgrade {
                proxy_pass http://127.0.0.1:$arg_port/upgrade$is_args$args;
                proxy_http_version 1.1;
                proxy_set_header Upgrade $http_upgrade;
                proxy_set_header Connection upgrade;
                proxy_buffering off;
            }
            # Passes everything on as it comes to a server of the test's own: ?port=.
            location = /relay {
                proxy_request_buffering off;
                proxy_buffering off;
                proxy_http_version 1.1;
                proxy_set_header Connection "";
                proxy_set_header X-Connection $connection;
                proxy_pass http://127.0.0.1:$arg_port/;
            }

            location = /redirect/loop { return 302 /redirect/loop; }
            location = /redirect/to { return 302 $arg_url; }
            \(hops.joined(separator: "\n"))
            \(codes.joined(separator: "\n"))
            """
    }
}
