/// The amounts of a limited resource that clients hold, and the limits on them.
struct ResourceUse: Sendable {
    /// The limit that a further amount exceeds.
    enum Excess: Sendable, Hashable {
        /// The client's own limit.
        case client
        /// The limit of all clients, or of all clients without a token.
        case total
    }

    private let totalLimit: Int
    private let anonymousLimit: Int
    private let clientLimit: Int

    /// The amount that all clients hold.
    private(set) var total = 0
    private var anonymous = 0
    private var clients: [Client: Int] = [:]

    /// - Parameters:
    ///   - total: the maximum amount of all clients together.
    ///   - anonymous: the maximum amount of all clients without a token together.
    ///   - perClient: the maximum amount of each client.
    init(total: Int, anonymous: Int, perClient: Int) {
        (totalLimit, anonymousLimit, clientLimit) = (total, anonymous, perClient)
    }

    /// Returns the limit that a further amount exceeds; nil if it is available. The client's own limit takes precedence.
    ///
    /// - Parameter client: nil for work that only the total limits.
    func excess(of amount: Int, for client: Client?) -> Excess? {
        if let client {
            if clients[client, default: 0] > clientLimit - amount { return .client }
            if client.isAnonymous, anonymous > anonymousLimit - amount { return .total }
        }
        return total > totalLimit - amount ? .total : nil
    }

    /// Takes a further amount if it is available.
    ///
    /// - Returns: the limit that it exceeds; nil if it was taken.
    mutating func take(_ amount: Int, for client: Client?) -> Excess? {
        if let excess = excess(of: amount, for: client) { return excess }
        add(amount, for: client)
        return nil
    }

    /// Returns an amount that was taken.
    mutating func giveBack(_ amount: Int, from client: Client?) { add(-amount, for: client) }

    private mutating func add(_ amount: Int, for client: Client?) {
        total += amount
        guard let client else { return }
        if client.isAnonymous { anonymous += amount }
        let own = clients[client, default: 0] + amount
        // A client that holds nothing takes no memory.
        clients[client] = own > 0 ? own : nil
    }
}
