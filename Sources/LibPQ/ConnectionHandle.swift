internal import CLibPQ

// The only file of the target with unchecked sendability of C objects.

/// The owner of a `PGconn`. It is used by one thread at a time: its connection's or its pipeline's.
final class ConnectionHandle: @unchecked Sendable {
    let raw: OpaquePointer

    init(adopting raw: OpaquePointer) { self.raw = raw }
    deinit { PQfinish(raw) }

    var isOpen: Bool { PQstatus(raw) == CONNECTION_OK }
    var socket: Int32 { PQsocket(raw) }
    var transactionIsIdle: Bool { PQtransactionStatus(raw) == PQTRANS_IDLE }

    /// Connects and blocks until done or `connect_timeout`; several hosts are tried in sequence.
    static func connect(_ configuration: PostgresConfiguration) throws(PostgresError) -> ConnectionHandle {
        let keywords = configuration.connectionKeywords
        let names = keywords.map { $0.key.nulTerminated }
        let values = keywords.map { $0.value.nulTerminated }
        let raw = withPointers(names) { namePointers in
            withPointers(values) { valuePointers in PQconnectdbParams(namePointers, valuePointers, 1) }
        }
        guard let raw else { throw PostgresError(.connection, "out of memory") }
        let handle = ConnectionHandle(adopting: raw)
        guard handle.isOpen else { throw .lost(raw) }
        _ = PQsetnonblocking(raw, 1)
        _ = PQsetNoticeProcessor(raw, { _, _ in }, nil)
        return handle
    }
}

extension String {
    var nulTerminated: [CChar] { Array(utf8CString) }
}

/// Calls a closure with a NULL-terminated array of C strings.
private func withPointers<R>(_ strings: [[CChar]], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> R) -> R {
    let bytes = strings.flatMap { $0 }
    return bytes.withUnsafeBufferPointer { buffer in
        var offset = 0
        var pointers: [UnsafePointer<CChar>?] = []
        for string in strings {
            pointers.append(buffer.baseAddress! + offset)
            offset += string.count
        }
        pointers.append(nil)
        return pointers.withUnsafeBufferPointer { body($0.baseAddress!) }
    }
}
