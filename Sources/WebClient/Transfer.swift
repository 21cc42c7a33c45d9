internal import CCurl
internal import Glibc
internal import Synchronization

/// A request in flight: a libcurl handle, the request data and the waiting caller.
///
/// After the transfer is added, only the driver's thread uses the handle.
final class Transfer: @unchecked Sendable {
    private struct State {
        var continuation: CheckedContinuation<Result<HTTPFetchHead, HTTPFetchError>, Never>?
        var hasEnded = false
        var isCancelled = false
    }

    let handle: UnsafeMutableRawPointer
    private let bodyLimit: Int
    private let pieces: AsyncThrowingStream<[UInt8], any Error>.Continuation
    private let state = Mutex(State())
    // Only accessed by the driver's thread.
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var headers: [(name: String, value: String)] = []
    private var status = 0
    private var received = 0
    private var isTooLarge = false

    init(
        _ fetch: HTTPFetch,
        _ pieces: AsyncThrowingStream<[UInt8], any Error>.Continuation
    ) throws(HTTPFetchError) {
        _ = Self.globalState
        guard let handle = curl_easy_init() else {
            throw HTTPFetchError(kind: .connection, description: "libcurl is out of memory")
        }
        self.handle = handle
        bodyLimit = fetch.bodyLimit
        self.pieces = pieces
        try configure(fetch)
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(headerList)
    }

    /// libcurl's global state, initialized once before any thread uses it.
    private static let globalState: Void = { curl_global_init(Int(CURL_GLOBAL_DEFAULT)) }()

    private func configure(_ fetch: HTTPFetch) throws(HTTPFetchError) {
        let texts = fetch.headers.flatMap { [$0.name, $0.value] } + [fetch.url, fetch.method]
        guard !texts.contains(where: { $0.utf8.contains { $0 == 0 || $0 == 10 || $0 == 13 } }) else {
            throw HTTPFetchError(kind: .invalidRequest, description: "the URL or a header contains a line break or NUL")
        }
        // libcurl has one code for other schemes and for servers that do not respond with HTTP.
        let beginning = fetch.url.prefix { !"/?#".contains($0) }
        if fetch.url[beginning.endIndex...].hasPrefix("//"), beginning.hasSuffix(":"),
            !["http:", "https:"].contains(beginning.lowercased())
        {
            throw HTTPFetchError(kind: .invalidRequest, description: "the URL must begin with http:// or https://")
        }
        let context = Unmanaged.passUnretained(self).toOpaque()
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_PATH_AS_IS, 1)
        set(CURLOPT_TIMEOUT_MS, max(1, Int(fetch.timeout / .milliseconds(1))))
        set(CURLOPT_CONNECTTIMEOUT_MS, max(1, Int(fetch.timeout / .milliseconds(1))))
        fetch.url.withCString { _ = aisle_setopt_pointer(handle, CURLOPT_URL, $0) }
        "http,https".withCString { _ = aisle_setopt_pointer(handle, CURLOPT_PROTOCOLS_STR, $0) }
        // Requests to the local machine never use a proxy from the environment.
        let named = getenv("no_proxy") ?? getenv("NO_PROXY")
        let exempt = named.map { String(cString: $0) }
        let direct = (["localhost", "127.0.0.1", "::1"] + [exempt].compactMap { $0 }).joined(separator: ",")
        direct.withCString { _ = aisle_setopt_pointer(handle, CURLOPT_NOPROXY, $0) }
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        for header in fetch.headers {
            // libcurl expects a semicolon after the name of a header without a value.
            let line = header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)"
            headerList = curl_slist_append(headerList, line)
        }
        // Avoid the round trip of `Expect: 100-continue`.
        headerList = curl_slist_append(headerList, "Expect:")
        if !fetch.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
            headerList = curl_slist_append(headerList, "Content-Type:")
        }
        _ = aisle_setopt_pointer(handle, CURLOPT_HTTPHEADER, headerList)
        switch (fetch.method, fetch.body) {
        case ("GET", nil): set(CURLOPT_HTTPGET, 1)
        case ("HEAD", nil): set(CURLOPT_NOBODY, 1)
        case (_, nil): fetch.method.withCString { _ = aisle_setopt_pointer(handle, CURLOPT_CUSTOMREQUEST, $0) }
        case (_, let body?):
            fetch.method.withCString { _ = aisle_setopt_pointer(handle, CURLOPT_CUSTOMREQUEST, $0) }
            set(CURLOPT_POSTFIELDSIZE, body.count)
            body.withUnsafeBytes { bytes in
                _ = aisle_setopt_pointer(handle, CURLOPT_COPYPOSTFIELDS, bytes.baseAddress ?? UnsafeRawPointer(context))
            }
        }
        _ = aisle_setopt_pointer(handle, CURLOPT_HEADERDATA, context)
        _ = aisle_setopt_function(handle, CURLOPT_HEADERFUNCTION) { data, size, count, context in
            Transfer.of(context).receiveHeader(UnsafeRawBufferPointer(start: data, count: size * count))
            return size * count
        }
        _ = aisle_setopt_pointer(handle, CURLOPT_WRITEDATA, context)
        _ = aisle_setopt_function(handle, CURLOPT_WRITEFUNCTION) { data, size, count, context in
            let isWanted = Transfer.of(context).receiveBody(UnsafeRawBufferPointer(start: data, count: size * count))
            // Returning any other number ends the transfer.
            return isWanted ? size * count : size * count &- 1
        }
    }

    private func set(_ option: CURLoption, _ value: Int) { _ = aisle_setopt_long(handle, option, value) }

    private static func of(_ context: UnsafeMutableRawPointer?) -> Transfer {
        Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue()
    }

    // MARK: - Receiving

    private func receiveHeader(_ line: UnsafeRawBufferPointer) {
        let text = String(decoding: line, as: UTF8.self)
        if text.hasPrefix("HTTP/") {
            headers = []
            status = text.split(separator: " ").dropFirst().first.flatMap { Int($0.prefix(3)) } ?? 0
        } else if let colon = text.firstIndex(of: ":") {
            let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            headers.append((String(text[..<colon]), String(value.prefix { !$0.isNewline })))
        } else if status >= 200 {
            // The empty line after the last header.
            completeHead(.success(HTTPFetchHead(status: status, headers: headers)))
        }
    }

    private func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        received += bytes.count
        guard received <= bodyLimit else {
            isTooLarge = true
            return false
        }
        pieces.yield(Array(bytes))
        return true
    }

    // MARK: - Completion

    func wait(_ continuation: CheckedContinuation<Result<HTTPFetchHead, HTTPFetchError>, Never>) {
        state.withLock { $0.continuation = continuation }
    }

    /// Marks the response as no longer needed.
    func cancel() { state.withLock { $0.isCancelled = true } }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    private func completeHead(_ head: Result<HTTPFetchHead, HTTPFetchError>) {
        state.withLock { $0.continuation.take() }?.resume(returning: head)
    }

    /// Completes the transfer for its waiting caller.
    func end(_ code: CURLcode) {
        let isFirst = state.withLock { state in
            defer { state.hasEnded = true }
            return !state.hasEnded
        }
        guard isFirst else { return }
        guard let error = error(code) else {
            completeHead(.failure(HTTPFetchError(kind: .connection, description: "the response has no head")))
            return pieces.finish()
        }
        completeHead(.failure(error))
        pieces.finish(throwing: error)
    }

    private func error(_ code: CURLcode) -> HTTPFetchError? {
        let text = String(cString: curl_easy_strerror(code))
        return switch code {
        case CURLE_OK: nil
        case CURLE_ABORTED_BY_CALLBACK: HTTPFetchError(kind: .cancelled, description: "the task was cancelled")
        case CURLE_OPERATION_TIMEDOUT: HTTPFetchError(kind: .timeout, description: "the request timed out")
        case CURLE_URL_MALFORMAT: HTTPFetchError(kind: .invalidRequest, description: text)
        case _ where isTooLarge:
            HTTPFetchError(kind: .bodyTooLarge, description: "the response exceeds \(bodyLimit) bytes")
        // A server may respond before it has read the body, and then close the connection.
        case CURLE_SEND_ERROR where status >= 400, CURLE_RECV_ERROR where status >= 400: nil
        default: HTTPFetchError(kind: .connection, description: text)
        }
    }
}
