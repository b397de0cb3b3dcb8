extension NginxServer {
    /// The path of the certificate of the authority that signed the certificates of all but two of the
    /// ``certificateHosts``, as PEM.
    public var authorityPath: String { folder + "/authority.pem" }
    /// The path of a client certificate signed by that authority, as PEM.
    public var clientCertificatePath: String { folder + "/visitor.pem" }
    /// The path of its private key.
    public var clientKeyPath: String { folder + "/visitor.key" }
    /// The path of a file with the SHA-256 of `good.test`'s public key in base64.
    public var pinPath: String { folder + "/good.pin" }

    /// The names for which ``certificatePort`` has a certificate; each name says what is wrong with it.
    /// `client.test` requires a client certificate.
    public static let certificateHosts = [
        "good.test", "expired.test", "future.test", "wrong.test", "unknown.test", "selfsigned.test",
        "client.test",
    ]

    /// Makes the certificates with openssl in the current folder.
    static let certificateScript = """
        cat >authority.cnf <<END
        [ca]
        default_ca = authority
        [authority]
        database = index
        serial = serial
        new_certs_dir = .
        default_md = sha256
        policy = any
        copy_extensions = copy
        unique_subject = no
        [any]
        commonName = supplied
        END
        : >index; echo 01 >serial
        ec="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
        authority() { openssl req -x509 $ec -days 2 -keyout "$1.key" -out "$1.pem" -subj "/CN=$1"; }
        # certify NAME HOST AUTHORITY [DATES]
        certify() {
            openssl req -new $ec -keyout "$1.key" -out "$1.csr" -subj "/CN=$2" -addext "subjectAltName=DNS:$2" &&
                openssl ca -batch -notext -config authority.cnf -cert "$3.pem" -keyfile "$3.key" \
                    -in "$1.csr" -out "$1.pem" $4
        }
        {
            authority authority && authority stranger &&
                certify good good.test authority "-days 2" &&
                certify expired expired.test authority "-startdate 20200101000000Z -enddate 20200201000000Z" &&
                certify future future.test authority "-startdate 20900101000000Z -enddate 20910101000000Z" &&
                certify wrong right.test authority "-days 2" &&
                certify unknown unknown.test stranger "-days 2" &&
                certify client client.test authority "-days 2" &&
                certify visitor visitor authority "-days 2" &&
                openssl req -x509 $ec -days 2 -keyout selfsigned.key -out selfsigned.pem \
                    -subj /CN=selfsigned.test -addext subjectAltName=DNS:selfsigned.test &&
                openssl x509 -in good.pem -pubkey -noout | openssl pkey -pubin -outform der |
                openssl dgst -sha256 -binary | openssl base64 >good.pin
        } >>start.log 2>&1 || exit 1
        """

    /// A server for each of the names, and one for `good.test` on the port with TLS 1.2 at most.
    static func certificateServers(_ ports: Ports) -> String {
        let hosts = certificateHosts.map { host in
            let name = host.prefix { $0 != "." }
            let client = "ssl_verify_client on; ssl_client_certificate authority.pem;"
            return """
                server {
                    listen 127.0.0.1:\(ports.certificates) ssl;
                    ssl_protocols TLSv1.2 TLSv1.3;
                    server_name \(host);
                    ssl_certificate \(name).pem;
                    ssl_certificate_key \(name).key;
                    \(name == "client" ? client : "")
                    location / { return 200 "\(host) $ssl_protocol $ssl_client_s_dn"; }
                }
                """
        }
        let old = """
            server {
                listen 127.0.0.1:\(ports.tls) ssl http2;
                server_name good.test;
                ssl_certificate good.pem;
                ssl_certificate_key good.key;
                location / { return 200 "old $ssl_protocol"; }
            }
            """
        return (hosts + [old]).joined(separator: "\n")
    }
}
