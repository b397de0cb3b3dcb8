import RxNetworking

func tellKindsApart(
    _ client: Client, showOffline: @escaping @Sendable () -> Void, offerRetry: @escaping @Sendable () -> Void,
    showNothing: @escaping @Sendable () -> Void
) async {
    do {
        show(try await client.request(GoodsList(keyword: "tea")).value())
    } catch {
        switch error.code {
        case .unreachable: showOffline()
        case .connectTimeout, .firstByteTimeout, .idleTimeout, .attemptTimeout, .totalTimeout:
            offerRetry()
        case .status where error.status?.code == 404: showNothing()
        case .envelope, .status: show(error.message)
        case .loginExpired: showLoginScreen()
        case .noContent: showNothing()
        case .cancelled: break
        default: show("\(error)")
        }
    }
}

extension NetworkError.Code {
    static let soldOut = NetworkError.Code(rawValue: "soldOut")
}
