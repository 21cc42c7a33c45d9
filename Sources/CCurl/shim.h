#pragma once
#include <curl/curl.h>

// libcurl's setters take a variable argument, which Swift cannot call: one function for each type.

static inline CURLcode aisle_setopt_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode aisle_setopt_pointer(CURL *handle, CURLoption option, const void *value) {
    return curl_easy_setopt(handle, option, value);
}

typedef size_t (*aisle_transfer_function)(char *data, size_t size, size_t count, void *context);

static inline CURLcode aisle_setopt_function(CURL *handle, CURLoption option, aisle_transfer_function function) {
    return curl_easy_setopt(handle, option, function);
}
