/// The product type of a client that ignores products.
public struct NoProduct: Decodable, Hashable, Sendable {
    /// Ignores the product.
    public init(from decoder: any Decoder) {}
}
