internal import CLibPQ
internal import Glibc
internal import Platform

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
        TLSLibrary.outlivesThreads
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

    /// Applies settings to the session if the connection is to PostgreSQL itself; blocks until done.
    ///
    /// A pooler lends the connection's transactions to different server processes, so a session's settings would affect other
    /// clients. A pooler reports a process id of its own, which it needs for cancel requests.
    ///
    /// - Parameter deadline: when to give up.
    /// - Returns: whether the settings were applied.
    func applyToSession(
        _ settings: TransactionSettings,
        until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> Bool {
        guard let script = settings.session(ofProcess: PQbackendPID(raw)) else { return true }
        guard PQsendQuery(raw, script) == 1 else { throw .lost(raw) }
        var isApplied = false
        while true {
            let isUnsent = PQflush(raw) == 1
            while PQisBusy(raw) == 0 {
                guard let result = PQgetResult(raw) else { return isApplied }
                defer { PQclear(result) }
                guard PQresultStatus(result) == PGRES_TUPLES_OK else { throw PostgresError(result: result) }
                isApplied = PQntuples(result) == 1
            }
            guard deadline > .now else { throw PostgresError(.connection, "the server did not respond in time") }
            _ = pollDescriptors([(socket, Int16(POLLIN) | (isUnsent ? Int16(POLLOUT) : 0))], until: deadline)
            guard PQconsumeInput(raw) == 1 else { throw .lost(raw) }
        }
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
