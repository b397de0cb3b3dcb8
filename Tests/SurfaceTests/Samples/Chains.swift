import RxNetworking

// Everyday chains, none with a type that the compiler could find by itself. Each is a constant of its own, in an
// asynchronous function, where nothing but the chain says what it is. `Tests/MainActorChains` and `Tests/Swift5Chains`
// compile this file as the code of other packages: on the main actor by default, and in the Swift 5 language mode.

nonisolated struct Product: Decodable, Sendable {
    let id: Int
    let name: String
    let price: Double
    let tags: [String]
}

struct ProductList: Endpoint {
    typealias Output = [Product]
    let path = "/products"
}

struct Malformed: Error {}

nonisolated func number(in text: String) throws(NetworkError) -> Int {
    guard let number = Int(text) else { throw NetworkError(.decoding, text) }
    return number
}

nonisolated func anyNumber(in text: String) throws -> Int {
    guard let number = Int(text) else { throw Malformed() }
    return number
}

/// The chains, which stay unsubscribed.
func chains(client: Client, query: Signal<String>, page: MutableProperty<Int>) async -> [Any] {
    let words = query.observable
    let products = client.request(ProductList())
    let a01 = client.get("/a").map { $0.text }
    let a02 = client.get("/a").map(\.text)
    let a03 = client.get("/a").decode(Product.self).map { $0.name.uppercased() }
    let a04 = client.get("/a").decode([Product].self).map { $0.filter { $0.price > 10 } }
    let a05 = client.get("/a").map { $0.body.count }.filter { $0 > 0 }
    let a06 = client.get("/a").compactMap { Int($0.text) }
    let a07 = client.get("/a").map { try number(in: $0.text) }
    let a08 = client.get("/a").map { try anyNumber(in: $0.text) }.filter { $0 > 3 }
    let a09 = client.get("/a").map { response throws(NetworkError) in try number(in: response.text) }
    let a10 = client.get("/a").map { response in
        let number = try anyNumber(in: response.text)
        return number * 2
    }
    let a11 = words.flatMap(.latest) { client.get("/search", query: ["q": $0]) }.map { $0.text }
    let a12 = words.flatMap(.latest) { client.get("/search", query: ["q": $0]) }.filter { $0.status == .ok }
    let a13 = words.flatMap(.latest) { client.get("/search", query: ["q": $0]) }.scan(0) {
        $0 + $1.body.count
    }
    let a14 = words.flatMap(.latest) { client.get("/search", query: ["q": $0]) }.reduce("") { $0 + $1.text }
    let a15 = words.flatMap(.latest) { client.get("/search", query: ["q": $0]) }.map {
        try number(in: $0.text)
    }
    let a16 = words.flatMap { _ in products }.map { $0.count }
    let a17 = words.flatMap(.concat) { word in products.map { $0.filter { $0.name == word } } }
    let a18 = words.debounce(.milliseconds(300)).distinctUntilChanged()
        .flatMap(.latest) { client.get("/search", query: ["q": $0]).map(\.text).replaceError(with: "") }
    let a19 = words.flatMap(.latest) { _ in products.replaceError(with: []) }.map { $0.map(\.name) }
    let a20 = words.filter { !$0.isEmpty }.map { $0.lowercased() }.scan([]) { $0 + [$1] }
    let a21 = words.reduce(0) { $0 + $1.count }
    let a22 = words.reduce(0) { count, _ in count + 1 }.map { "\($0) words" }
    let a23 = page.observable.map { $0 + 1 }.filter { $0 % 2 == 0 }.take(3)
    let a24 = page.observable.flatMap { client.get("/page/{n}", at: ["n": $0]) }.decode([Product].self)
    let a25 = products.flatMap { Observable.sequence($0) }.map { $0.price }.reduce(0) { $0 + $1 }
    let a26 = products.flatMap { .sequence($0) }.filter { $0.tags.contains("tea") }.collect()
    let a27 = client.items(ProductList(), .numbered(size: 20)).map(\.name).take(100).collect()
    let a28 = client.items(ProductList(), .numbered(size: 20)).take(while: { $0.price < 5 }).last()
    let a29 = client.items(ProductList(), .link).skip(while: { $0.id < 5 }).distinctUntilChanged(by: \.name)
    let a30 = client.items(ProductList(), .link).flatMap(.merge(limit: 4)) {
        client.get("/p/{id}", at: ["id": $0.id])
    }
    .map { $0.status.code }.filter { $0 != 200 }.reduce(0) { count, _ in count + 1 }
    let a31 = Observable.zip(products, client.get("/cart")).map { products, cart in
        products.count + cart.body.count
    }
    let a32 = Observable.combineLatest(words, page.observable).map { word, page in "\(word) \(page)" }
    let a33 = products.catch { _ in Observable<[Product], Never>.just([]) }.map { $0.count }
    let a34 = products.retry(2).timeout(.seconds(3), error: { NetworkError(.totalTimeout, "late") }).map {
        $0.first
    }
    let a35 = products.asResult().map { result in (try? result.get().count) ?? 0 }
    let a36 = words.withLatestFrom(page.observable) { word, page in word + "\(page)" }.share(replay: 1)
    let a37 = Observable<Int, Never>.interval(.seconds(1)).flatMap(.first) { _ in client.get("/poll") }.map {
        $0.text
    }
    let a38 = words.flatMap { word in page.observable.map { "\(word)\($0)" } }.scan("") { $0 + $1 }
    let a39 = client.post("/cart", ["goods": 7]).flatMap { _ in client.get("/cart") }.flatMap { _ in products
    }
    .map { $0.count }
    let a40 = client.stream(.get("/log")).lines().filter { $0.contains("error") }.scan(0) { count, _ in
        count + 1
    }
    let a41 = words.flatMap(.latest) { word in
        let words = word.lowercased()
        return client.get("/search", query: ["q": words])
    }
    .map { $0.text }
    let a42 = client.pages(ProductList(), .numbered(size: 20), next: Signal()).map { state in
        let names = state.items.map(\.name)
        return names.joined(separator: ", ")
    }
    let a43 = products.map { $0.count }.catch { error in
        if error.code == .status { return .just(0) }
        return .fail(error)
    }
    let a44 = client.get("/a").map { $0.text }.catch { error in
        switch error.code {
        case .status: return .just("")
        case .unreachable: return client.get("/b").map(\.text)
        default: return .fail(error)
        }
    }
    return [
        a01, a02, a03, a04, a05, a06, a07, a08, a09, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20,
        a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40,
        a41, a42, a43, a44,
    ]
}

/// The first of them where nothing is asynchronous.
func synchronousChains(client: Client, words: Observable<String, Never>) -> [Any] {
    let a = words.flatMap(.latest) { client.get("/search", query: ["q": $0]) }.map { $0.text }
    let b = words.flatMap(.latest) { client.get("/search", query: ["q": $0]) }.filter { $0.status == .ok }
    let c = words.flatMap(.latest) { client.get("/search", query: ["q": $0]) }.scan(0) { $0 + $1.body.count }
    let d = words.flatMap(.latest) { client.get("/search", query: ["q": $0]) }.reduce("") { $0 + $1.text }
    let e = words.flatMap(.latest) { client.get("/search", query: ["q": $0]) }.map { try number(in: $0.text) }
    let f = words.map { try anyNumber(in: $0) }.filter { try anyNumber(in: "\($0)") > 1 }
    return [a, b, c, d, e, f]
}

/// Calls with `await` from code on an actor.
func awaitedChains(client: Client, counts: Observable<Int, Never>) async throws {
    let product = try await client.get("/products/7").decode(Product.self).value()
    let names = try await client.request(ProductList()).map { $0.map(\.name) }.value()
    let all = try await client.items(ProductList(), .numbered(size: 20)).collect().value()
    let sum = try await counts.reduce(0) { $0 + $1 }.value()
    for try await product in client.items(ProductList(), .numbered(size: 20)) { print(product.name) }
    for await count in counts { print(count) }
    for await count in counts.map({ $0 * 2 }).filter({ $0 > 2 }) { print(count) }
    let hasSeven = await counts.contains(7)
    print(product.name, names, all.count, sum, hasSeven)
}

/// A failure keeps its type.
func typedFailures(client: Client) async -> NetworkError.Code? {
    do {
        let product = try await client.get("/products/7").decode(Product.self).value()
        for try await product in client.items(ProductList(), .numbered(size: 20)) { print(product.name) }
        print(product.name)
    } catch {
        return error.code
    }
    return nil
}
