import FoundationEssentials
import HTTPTypes
import RxHTTP

@testable import RxCurl

extension Parser {
    static let curl: [Parser] = [
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
            var length = AnnouncedLength()
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
                let target = try Target(of: Request(url: url))
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
