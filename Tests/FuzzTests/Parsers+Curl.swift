import FoundationEssentials
import HTTPTypes
import RxHTTP

@testable import RxCurl

extension Parser {
    static let curl: [Parser] = [
        Parser(
            "alternative services",
            [
                #"h3=":443"; ma=2592000; persist=1, h2="alt.test:8443";ma="60""#, "clear",
                #"h3="[::1]:443\"", x="#,
                #"h3=":443", h3=":444"; ma=99999999999999999999; foo="a,b\"c""#, #"w%3D="", ="", h3=:1"#,
            ]
        ) { bytes in
            let field = AlternativeServiceField(bytes)
            guard case .services(let services) = field else { return "clear" }
            try demand(services.count <= AlternativeService.limit, "\(services.count) services")
            for service in services {
                try demand((1...65_535).contains(service.port), "port \(service.port)")
                try demand(
                    (0...AlternativeService.longestAge).contains(service.maxAge), "age \(service.maxAge)")
                try demand(!service.host.utf8.contains { $0 <= 0x20 || $0 == 0x22 }, "host \(service.host)")
            }
            // Accepted names are written unchanged.
            let origin = AlternativeTable.HTTPSOrigin(host: "a.test", port: 443)
            var (table, again) = (AlternativeTable(), AlternativeTable())
            _ = table.take(field, from: origin, over: "h2", at: 0)
            again.add(table.text(at: 0), at: 0)
            try demand(again.text(at: 0) == table.text(at: 0), "another text")
            return "\(services)"
        },
        Parser(
            "file of alternative services",
            [
                "# comment\n" + #"h2 a.test 443 h3 a.test 443 "19700131 23:59:59" 1 0"# + "\n",
                #"h3 [::1] 443 h3 b.test 8443 "19701231 00:00:60" 0 0"# + "\r\nh1 a 1 h2 b 2 \"",
            ]
        ) { bytes in
            var table = AlternativeTable()
            table.add(bytes, at: 0)
            try demand(table.entries.count <= AlternativeTable.limit, "\(table.entries.count) origins")
            return "\(table.entries.count)"
        },
        Parser(
            "status line",
            ["HTTP/1.1 200 OK\r\n", "HTTP/2 404 \r\n", "HTTP/1.0 999\n", "HTTP/1.1 1000 X\r\n", "HTTP/ "]
        ) { bytes in
            var reader = StatusLine()
            let first = unsafe bytes.withUnsafeBytes { unsafe reader.read($0) }
            let again = unsafe bytes.withUnsafeBytes { unsafe reader.read($0) }
            try demand(first == again, "the second reading differs")
            guard let status = first else { return "none" }
            try demand((0...999).contains(status.code), "status \(status.code)")
            return "\(status.code) \(status.reasonPhrase)"
        },
        Parser(
            "length",
            [
                "Content-Length: 12\r\n", "content-length:0\n", "Content-Length: 2, 2 ,2\r\n",
                "Content-Length: -1\r\n",
                "Content-Length: 9223372036854775807\r\n", "Content-Length: 99999999999999999999\r\n",
                "Content-Type: 1\r\n",
            ]
        ) { bytes in
            var length = ContentLength()
            return try bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
                line in
                let isAdmitted = unsafe Array(line).withUnsafeBytes { unsafe length.admit($0) }
                let text = String(decoding: line, as: UTF8.self).lowercased()
                if isAdmitted, text.hasPrefix("content-length:") {
                    try demand(!text.contains("-1"), "a negative length")
                    try demand(text.utf8.dropFirst(15).contains { (48...57).contains($0) }, "no digit")
                }
                return "\(isAdmitted)"
            }.joined()
        },
        Parser(
            "target",
            text: [
                "http://a.test/", "https://u:p@a.test:8080/x?q#f", "http://[::1]:80", "HTTP://a.test:",
                "http://:80/",
                "http://a@b@c:65536",
            ]
        ) { text in
            guard let url = URL(string: text) else { return "none" }
            do {
                let target = try CheckedURL(of: Request(url: url))
                try demand(target.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a byte that is no URL's")
                let isHTTP = ["http://", "https://"].contains { target.text.lowercased().hasPrefix($0) }
                try demand(isHTTP, "another scheme")
                return "\(target.text) \(target.hasUserInfo)"
            } catch let error as NetworkError {
                try demand(error.code == .invalidURL, "\(error)")
                return "invalid"
            }
        },
    ]
}
