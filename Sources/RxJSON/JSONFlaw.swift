/// The first byte at which a document is not valid JSON.
package struct JSONFlaw: Error, Equatable {
    package let offset: Int
}
