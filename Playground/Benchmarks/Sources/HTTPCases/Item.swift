/// One of the ten items in the 809 bytes that `typed` decodes.
package struct Item: Decodable, Sendable {
    package let id: Int
    package let name: String
    package let price: Double
    package let stock: Int
    package let organic: Bool
    package let tags: [String]
}
