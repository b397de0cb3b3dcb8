/// The byte at which a document is no JSON any more.
package struct JSONFlaw: Error, Equatable {
    package let offset: Int
}
