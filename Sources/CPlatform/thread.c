#define _GNU_SOURCE
#include "CPlatform.h"
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

void aisle_name_thread(const char *name) {
    char text[16] = {0};
    strncpy(text, name, sizeof text - 1);
    pthread_setname_np(pthread_self(), text);
}

void aisle_lower_thread_priority(void) {
    static _Thread_local int is_lowered;
    if (is_lowered) return;
    is_lowered = 1;
    // On Linux, each thread has its own nice value.
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 10);
}
