/// The end of a transaction, with its value.
package enum TransactionEnd<Value> {
    case commit(Value)
    case rollback(Value)
}

extension TransactionEnd: Sendable where Value: Sendable {}
