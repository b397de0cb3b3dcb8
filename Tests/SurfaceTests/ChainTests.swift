import RxNetworking
import Testing

@Suite struct ChainTests {
    /// If the compiler had taken a function of `AsyncSequence` for an operator, the chain would have another
    /// type.
    @Test func everyChainIsAStream() async {
        let client = Client(baseURL: "https://api.example.com")
        let chains = await chains(client: client, query: Signal(), page: MutableProperty(1))
        #expect(chains.count == 44)
        let inner = synchronousChains(client: client, words: .never())
        for chain in chains + inner {
            #expect("\(type(of: chain))".hasPrefix("Observable<"))
        }
    }
}
