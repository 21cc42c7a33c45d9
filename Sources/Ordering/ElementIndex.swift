/// An index of the positions of elements in a list; each position is returned only once.
protocol ElementIndex<Element>: ~Copyable {
    associatedtype Element
    /// Takes the first remaining position of an element; −1 if there is none.
    mutating func take(_ element: Element) -> Int32
}
