import FoundationEssentials
import RxNetworking

func exchangeARequest(client: Client, url: URL, image: [UInt8]) {
    let request = Request(method: .put, url: url, body: .bytes(image))
    client.exchange(request, following: .manual).response(to: request)
        .subscribe(onNext: { response in print(response.status) })
}
