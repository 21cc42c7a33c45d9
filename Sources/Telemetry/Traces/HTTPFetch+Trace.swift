internal import Platform
internal import ServiceContextModule
package import WebClient

extension HTTPFetch {
    /// Returns the request with the headers that continue the current trace, if there is one.
    package func continuingTrace() -> HTTPFetch {
        guard let position = TaskContext.current.trace ?? ServiceContext.current?.traceParent else { return self }
        var copy = self
        copy.headers.append((TraceParent.header, position.text))
        if let state = position.state { copy.headers.append((TraceParent.stateHeader, state)) }
        return copy
    }
}
