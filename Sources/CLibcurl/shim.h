// libcurl's variadic calls, which Swift cannot make, by type of their argument. Everything else is called as
// it is. The caller picks the function that fits the option, as the manual page of the option says.

#include <curl/curl.h>
#include <sys/socket.h>

static inline CURLcode rxcurl_easy_setopt_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode rxcurl_easy_setopt_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

// Strings, lists, handles and callback contexts.
static inline CURLcode rxcurl_easy_setopt_pointer(CURL *easy, CURLoption option, const void *value) {
    return curl_easy_setopt(easy, option, value);
}

// CURLOPT_WRITEFUNCTION, CURLOPT_HEADERFUNCTION.
static inline CURLcode rxcurl_easy_setopt_write(CURL *easy, CURLoption option, curl_write_callback value) {
    return curl_easy_setopt(easy, option, value);
}

// CURLOPT_READFUNCTION.
static inline CURLcode rxcurl_easy_setopt_read(CURL *easy, CURLoption option, curl_read_callback value) {
    return curl_easy_setopt(easy, option, value);
}

// CURLOPT_SEEKFUNCTION.
static inline CURLcode rxcurl_easy_setopt_seek(CURL *easy, CURLoption option, curl_seek_callback value) {
    return curl_easy_setopt(easy, option, value);
}

// CURLOPT_XFERINFOFUNCTION.
static inline CURLcode rxcurl_easy_setopt_xferinfo(CURL *easy, CURLoption option, curl_xferinfo_callback value) {
    return curl_easy_setopt(easy, option, value);
}

// CURLOPT_PREREQFUNCTION.
static inline CURLcode rxcurl_easy_setopt_prereq(CURL *easy, CURLoption option, curl_prereq_callback value) {
    return curl_easy_setopt(easy, option, value);
}

// CURLOPT_RESOLVER_START_FUNCTION.
static inline CURLcode rxcurl_easy_setopt_lookup(
    CURL *easy, CURLoption option, curl_resolver_start_callback value) {
    return curl_easy_setopt(easy, option, value);
}

// CURLOPT_DEBUGFUNCTION.
static inline CURLcode rxcurl_easy_setopt_debug(CURL *easy, CURLoption option, curl_debug_callback value) {
    return curl_easy_setopt(easy, option, value);
}

// CURLOPT_OPENSOCKETFUNCTION.
static inline CURLcode rxcurl_easy_setopt_opensocket(
    CURL *easy, CURLoption option, curl_opensocket_callback value) {
    return curl_easy_setopt(easy, option, value);
}

// CURLOPT_CLOSESOCKETFUNCTION.
static inline CURLcode rxcurl_easy_setopt_closesocket(
    CURL *easy, CURLoption option, curl_closesocket_callback value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode rxcurl_easy_getinfo_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode rxcurl_easy_getinfo_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode rxcurl_easy_getinfo_socket(CURL *easy, CURLINFO info, curl_socket_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode rxcurl_easy_getinfo_pointer(CURL *easy, CURLINFO info, void **value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLMcode rxcurl_multi_setopt_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode rxcurl_multi_setopt_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}

// CURLMOPT_SOCKETFUNCTION.
static inline CURLMcode rxcurl_multi_setopt_socket(CURLM *multi, CURLMoption option, curl_socket_callback value) {
    return curl_multi_setopt(multi, option, value);
}

// CURLMOPT_TIMERFUNCTION.
static inline CURLMcode rxcurl_multi_setopt_timer(
    CURLM *multi, CURLMoption option, curl_multi_timer_callback value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLSHcode rxcurl_share_setopt_long(CURLSH *share, CURLSHoption option, long value) {
    return curl_share_setopt(share, option, value);
}

// The result of a finished transfer; a member of a union in CURLMsg.
static inline CURLcode rxcurl_message_result(const CURLMsg *message) { return message->data.result; }
