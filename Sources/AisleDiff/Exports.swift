// A diff's type is one and the same in the generator, the service and this library.
@_exported public import Ordering
