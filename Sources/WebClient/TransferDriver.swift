internal import CCurl
internal import Platform
internal import Synchronization

/// The thread that drives all transfers of a client.
final class TransferDriver: @unchecked Sendable {
    private struct Mail {
        var added: [Transfer] = []
        var cancelled: [Transfer] = []
        var isRunning = false
        var isStopped = false
    }

    private let multi: UnsafeMutableRawPointer
    private let mail = Mutex(Mail())
    /// The transfers by handle; only accessed by the driver's thread.
    private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]

    init() {
        // nil only means out of memory.
        multi = curl_multi_init()!
    }

    deinit { curl_multi_cleanup(multi) }

    func add(_ transfer: Transfer) {
        let (starts, isStopped) = mail.withLock { mail in
            if !mail.isStopped { mail.added.append(transfer) }
            defer { mail.isRunning = true }
            return (!mail.isRunning, mail.isStopped)
        }
        if isStopped { return transfer.end(CURLE_ABORTED_BY_CALLBACK) }
        guard starts else { return wake() }
        do throws(OSThreadError) {
            try OSThread.start(name: "web client") { [self] in run() }
        } catch {
            let waiting = mail.withLock { mail in
                defer { (mail.isRunning, mail.added) = (false, []) }
                return mail.added
            }
            for transfer in waiting { transfer.end(CURLE_OUT_OF_MEMORY) }
        }
    }

    func cancel(_ transfer: Transfer) {
        transfer.cancel()
        mail.withLock { $0.cancelled.append(transfer) }
        wake()
    }

    func stop() {
        mail.withLock { $0.isStopped = true }
        wake()
    }

    private func wake() { curl_multi_wakeup(multi) }

    private func run() {
        while true {
            let (added, cancelled, isStopped) = mail.withLock { mail in
                defer { (mail.added, mail.cancelled) = ([], []) }
                return (mail.added, mail.cancelled, mail.isStopped)
            }
            for transfer in added {
                if transfer.isCancelled {
                    transfer.end(CURLE_ABORTED_BY_CALLBACK)
                    continue
                }
                transfers[transfer.handle] = transfer
                curl_multi_add_handle(multi, transfer.handle)
            }
            for transfer in cancelled { end(transfer.handle, CURLE_ABORTED_BY_CALLBACK) }
            if isStopped {
                for handle in Array(transfers.keys) { end(handle, CURLE_ABORTED_BY_CALLBACK) }
                return
            }
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            collect()
            // Woken by any event; the timeout is for libcurl's timers.
            curl_multi_poll(multi, nil, 0, 1000, nil)
        }
    }

    private func collect() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
            end(handle, message.pointee.data.result)
        }
    }

    private func end(_ handle: UnsafeMutableRawPointer, _ code: CURLcode) {
        guard let transfer = transfers.removeValue(forKey: handle) else { return }
        curl_multi_remove_handle(multi, handle)
        transfer.end(code)
    }
}
