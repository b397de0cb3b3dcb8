// One import for users: the public modules that the product consists of. Optional ones are products of their own.
// `Docs/build.sh` reads these lines in this form, to describe the modules as parts of RxNetworking.
@_exported public import HTTPTypes
@_exported public import RxCache
@_exported public import RxClient
@_exported public import RxCookies
@_exported public import RxCurl
@_exported public import RxHAR
@_exported public import RxHTTP
@_exported public import RxLite
@_exported public import RxLoop
@_exported public import RxParameters
@_exported public import RxWebSocket

#if Logging
@_exported public import Logging
#endif
