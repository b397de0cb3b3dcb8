// One import for users: all public modules.
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
