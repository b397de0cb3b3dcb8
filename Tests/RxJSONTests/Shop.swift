/// A type with the features of synthesized conformances.
struct Shop: Decodable, Equatable {
    let name: String
    var owner: Person?
    let goods: [Goods]
    var prices: [String: Double] = [:]
    var shelves: [Int: [String]] = [:]
    var sizes: [Size: Int] = [:]
    var kinds: Set<Size> = []
    var place: Place
    var grid: [[Int?]]

    struct Person: Decodable, Equatable { var first: String?, last: String?, age: Int? }

    struct Goods: Decodable, Equatable {
        let id: UInt32, title: String, price: Double, weight: Float?, organic: Bool, tags: [String]
        let size: Size
    }

    enum Size: String, Decodable, CodingKeyRepresentable { case small, large }

    enum Place: Decodable, Equatable {
        case street(name: String, number: Int)
        case stall(Int, Bool?)
        case online
    }

    /// A matching document.
    static let document = #"""
        {"name": "Tea & Co", "owner": {"first": "A\u00e9", "last": null, "age": 41},
         "goods": [{"id": 1, "title": "assam", "price": 2.25, "weight": 0.5, "organic": true, "tags": ["a", "b"],
                    "size": "small"},
                   {"id": 4294967295, "title": "日本 sencha", "price": 1e2, "organic": false, "tags": [], "size": "large"}],
         "prices": {"assam": 2, "a/b": 2.5, "é": -0.0}, "shelves": {"1": ["x"], "-2": []}, "sizes": {"small": 1},
         "kinds": ["large", "small", "large"], "place": {"street": {"name": "High", "number": 7}},
         "grid": [[1, null], [], [3,],], }
        """#
}
