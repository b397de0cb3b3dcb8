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

/// A control of an app.
struct Button { var onTap: @Sendable () async -> Void }

func catchInAClosure(_ client: Client, _ button: inout Button) {
    button.onTap = {
        do throws(NetworkError) {
            show(try await client.get("/cart").value().text)
        } catch {
            show(client.text(for: error))
        }
    }
}

func passOthersOn(_ client: Client, showOffline: @escaping @Sendable () -> Void) async throws {
    do {
        show(try await client.get("/cart").value().text)
    } catch let error where [.unreachable, .connect].contains(error.code) {
        showOffline()
    }
}

func showTexts(_ client: Client, _ configuration: inout ClientConfiguration) {
    var texts = ErrorTexts([.unreachable: "网络不给力，请检查网络设置", .loginExpired: "登录超时，请重新登录"], fallback: "请求失败")
    texts.set("请求超时，请稍后再试", for: NetworkError.Code.timeouts)
    configuration.errorTexts = texts
    client.errorTips.subscribe { error in show(client.text(for: error)) }
}

func acceptFailures() {
    UnhandledFailure.handler = { _ in }
}

extension NetworkError.Code {
    static let soldOut = NetworkError.Code(rawValue: "soldOut")
}
