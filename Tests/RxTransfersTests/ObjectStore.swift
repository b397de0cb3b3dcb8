import Synchronization

@testable import RxTransfers

/// An object store with multipart uploads by the API reference of S3, for scripted and for real servers.
final class ObjectStore: Sendable {
    struct Request {
        var method: String
        var query: [String: String]
        var fields: [String: String]
        var body: [UInt8]
    }

    struct Reply {
        var status = 200
        var fields: [String: String] = [:]
        var body = ""
    }

    struct State: Sendable {
        var object: [UInt8]?
        var parts: [Int: [UInt8]] = [:]
        var uploadID: String?
        var ids = 0
        var log: [String] = []
        /// The statuses of the next requests for parts.
        var faults: [Int] = []
        /// Responds to the next completion with an error document and the status 200.
        var failsCompletion = false
        var pageSize = 1000
        var checksums: [Int: String] = [:]
    }

    let state = Mutex(State())

    func answer(_ request: Request) -> Reply {
        state.withLock { state in
            let number = request.query["partNumber"].flatMap { Int($0) }
            state.log.append(
                "\(request.method) \(request.query.keys.sorted().joined(separator: ","))\(number.map { " \($0)" } ?? "")"
            )
            if request.method == "POST", request.query["uploads"] != nil {
                state.ids += 1
                state.uploadID = "id+\(state.ids)/="
                state.parts = [:]
                return Reply(
                    body:
                        "<InitiateMultipartUploadResult><Bucket>b</Bucket><UploadId>id+\(state.ids)/=</UploadId></InitiateMultipartUploadResult>"
                )
            }
            guard let id = state.uploadID, request.query["uploadId"] == id else {
                return Reply(status: 404, body: "<Error><Code>NoSuchUpload</Code></Error>")
            }
            switch request.method {
            case "PUT":
                if !state.faults.isEmpty {
                    let status = state.faults.removeFirst()
                    if status != 200 {
                        return Reply(status: status, body: "<Error><Code>SlowDown</Code></Error>")
                    }
                }
                if let checksum = request.fields["x-amz-checksum-sha256"] {
                    guard checksum == TransferDigest(of: request.body).base64 else {
                        return Reply(status: 400)
                    }
                    state.checksums[number ?? 0] = checksum
                }
                state.parts[number ?? 0] = request.body
                var fields = ["ETag": "\"tag\(number ?? 0)&\""]
                if let checksum = state.checksums[number ?? 0] { fields["x-amz-checksum-sha256"] = checksum }
                return Reply(fields: fields)
            case "GET":
                let after = request.query["part-number-marker"].flatMap { Int($0) } ?? 0
                let numbers = state.parts.keys.filter { $0 > after }.sorted()
                let page = numbers.prefix(state.pageSize)
                let parts = page.map { number in
                    "<Part><PartNumber>\(number)</PartNumber><ETag>&quot;tag\(number)&amp;&quot;</ETag><Size>\(state.parts[number]?.count ?? 0)</Size>"
                        + (state.checksums[number].map { "<ChecksumSHA256>\($0)</ChecksumSHA256>" } ?? "")
                        + "</Part>"
                }
                let isCut = page.count < numbers.count
                return Reply(
                    body:
                        "<ListPartsResult><IsTruncated>\(isCut)</IsTruncated><NextPartNumberMarker>\(page.last ?? 0)</NextPartNumberMarker>\(parts.joined())</ListPartsResult>"
                )
            case "DELETE":
                state.uploadID = nil
                return Reply(status: 204)
            default:
                if state.failsCompletion {
                    state.failsCompletion = false
                    return Reply(body: "<?xml version=\"1.0\"?>\n<Error><Code>InternalError</Code></Error>")
                }
                let numbers = state.parts.keys.sorted()
                let text = String(decoding: request.body, as: UTF8.self)
                for number in numbers
                where !text.contains(
                    "<PartNumber>\(number)</PartNumber><ETag>&quot;tag\(number)&amp;&quot;</ETag>")
                {
                    return Reply(status: 400, body: "<Error><Code>InvalidPart</Code></Error>")
                }
                state.object = numbers.flatMap { state.parts[$0] ?? [] }
                return Reply(
                    fields: ["ETag": "\"whole\""],
                    body:
                        "<CompleteMultipartUploadResult><ETag>&quot;whole&quot;</ETag></CompleteMultipartUploadResult>"
                )
            }
        }
    }
}
