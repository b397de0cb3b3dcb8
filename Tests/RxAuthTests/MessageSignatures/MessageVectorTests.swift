#if Auth
import FoundationEssentials
import HTTPTypes
import RxHTTP
import Testing

@testable import RxAuth

/// The examples of RFC 9421, Appendix B.3 and B.4: a proxy that adds the certificate of the client, and changes on the way.
@Suite struct MessageVectorTests {
    private static let certificate =
        ":MIIBqDCCAU6gAwIBAgIBBzAKBggqhkjOPQQDAjA6MRswGQYDVQQKDBJMZXQncyBBdXRoZW50aWNhdGUxGzAZBgNVBAMMEkxBIEludGVybWVkaWF0ZSBDQTAeFw0yMDAxMTQyMjU1MzNaFw0yMTAxMjMyMjU1MzNaMA0xCzAJBgNVBAMMAkJDMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE8YnXXfaUgmnMtOXU/IncWalRhebrXmckC8vdgJ1p5Be5F/3YC8OthxM4+k1M6aEAEFcGzkJiNy6J84y7uzo9M6NyMHAwCQYDVR0TBAIwADAfBgNVHSMEGDAWgBRm3WjLa38lbEYCuiCPct0ZaSED2DAOBgNVHQ8BAf8EBAMCBsAwEwYDVR0lBAwwCgYIKwYBBQUHAwIwHQYDVR0RAQH/BBMwEYEPYmRjQGV4YW1wbGUuY29tMAoGCCqGSM49BAMCA0gAMEUCIBHda/r1vaL6G3VliL4/Di6YK0Q6bMjeSkC3dFCOOB8TAiEAx/kHSB4urmiZ0NX5r5XarmPk0wmuydBVoU4hBVZ1yhk=:"

    /// The request of B.3, as the service behind the proxy receives it.
    @Test func proxy() throws {
        let name = try #require(HTTPField.Name("Client-Cert"))
        let message = { (host: String, certificate: String) in
            SignableMessage(
                .post, "https://\(host)/foo?param=Value&Pet=dog",
                headerFields: [
                    .date: "Tue, 20 Apr 2021 02:07:55 GMT", .contentType: "application/json",
                    .contentLength: "18", name: certificate,
                    .signatureInput:
                        #"ttrp=("@path" "@query" "@method" "@authority" "client-cert");created=1618884473;keyid="test-key-ecc-p256""#,
                    .signature:
                        "ttrp=:xVMHVpawaAC/0SbHrKRs9i8I3eOs5RtTMGCWXm/9nvZzoHsIg6Mce9315T6xoklyy0yzhD9ah4JHRwMLOgmizw==:",
                ])
        }
        let verifier = MessageSignatureTests.verifier
        let verified = try verifier.verify(message("service.internal.example", Self.certificate))
        #expect(verified.label == "ttrp" && verified.components.last == SignatureComponent.field(name))
        for other in [
            message("example.com", Self.certificate), message("service.internal.example", ":AAAA:"),
        ] {
            #expect(throws: MessageSignatureError.self) { try verifier.verify(other) }
        }
    }

    /// The changes of B.4 after which the signature is still valid, and those after which it is not.
    @Test(
        arguments: [
            ("GET", "example.org/demo?name1=Value1&Name2=value2", ["application/json", "*/*"], true),
            (
                "GET", "example.org/demo?name1=Value1&Name2=value2&param=added", ["application/json", "*/*"],
                true
            ),
            ("GET", "example.org/demo?name1=Value1&Name2=value2", ["application/json, */*"], true),
            (
                "POST", "example.com/demo?name1=Value1&Name2=value2", ["application/json", "*/*"],
                false
            ),
            ("GET", "example.org/demo?name1=Value1&Name2=value2", ["*/*", "application/json"], false),
        ] as [(String, String, [String], Bool)])
    func transformations(method: String, target: String, accept: [String], isValid: Bool) throws {
        var fields: HTTPFields = [
            .date: "Fri, 15 Jul 2022 14:24:55 GMT", .acceptLanguage: "en-US,en;q=0.5",
            .signatureInput:
                #"transform=("@method" "@path" "@authority" "accept");created=1618884473;keyid="test-key-ed25519""#,
            .signature:
                "transform=:ZT1kooQsEHpZ0I1IjCqtQppOmIqlJPeo7DHR3SoMn0s5JZ1eRGS0A+vyYP9t/LXlh5QMFFQ6cpLt2m0pmj3NDA==:",
        ]
        for value in accept { fields.append(HTTPField(name: .accept, value: value)) }
        let message = SignableMessage(
            try #require(HTTPRequest.Method(rawValue: method)), "https://" + target, headerFields: fields)
        guard !isValid else {
            #expect(try MessageSignatureTests.verifier.verify(message).label == "transform")
            return
        }
        let error = #expect(throws: MessageSignatureError.self) {
            try MessageSignatureTests.verifier.verify(message)
        }
        #expect(error?.code == .invalid)
    }
}
#endif
