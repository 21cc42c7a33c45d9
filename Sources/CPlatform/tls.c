#define _GNU_SOURCE
#include "CPlatform.h"
#include <dlfcn.h>
#include <stdint.h>

void aisle_keep_tls_until_exit(void) {
    // OPENSSL_INIT_NO_ATEXIT of <openssl/crypto.h>; only the first initialization of the library can set it.
    const uint64_t noExitHandler = 0x00080000;
    int (*initialize)(uint64_t, const void *) = (int (*)(uint64_t, const void *))dlsym(RTLD_DEFAULT, "OPENSSL_init_crypto");
    if (initialize) initialize(noExitHandler, NULL);
}
