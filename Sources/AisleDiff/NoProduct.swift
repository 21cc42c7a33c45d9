/// The product type of a client that ignores products.
public struct NoProduct: Decodable, Hashable, Sendable {
    public init(from decoder: any Decoder) {}
}
