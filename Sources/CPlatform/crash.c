#define _GNU_SOURCE
#include "CPlatform.h"
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

// All data for the handler is prepared in advance, because it may only make async-signal-safe calls.

static const int fatal_signals[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS};
static char crash_version[64];
static char crash_build_id[129];
static uintptr_t load_address;
static uintptr_t image_end;
static volatile sig_atomic_t is_reporting;
static pthread_t reporter;

enum { stack_size = 64 * 1024 };
static pthread_key_t stack_key;
static pthread_once_t stack_key_once = PTHREAD_ONCE_INIT;

static void free_stack(void *memory) {
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    munmap(memory, stack_size);
}

static void make_stack_key(void) { pthread_key_create(&stack_key, free_stack); }

void aisle_prepare_thread_for_crashes(void) {
    static _Thread_local int is_prepared;
    if (is_prepared) return;
    is_prepared = 1;
    pthread_once(&stack_key_once, make_stack_key);
    stack_t current;
    if (sigaltstack(NULL, &current) != 0 || !(current.ss_flags & SS_DISABLE)) return;
    void *memory = mmap(NULL, stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    stack_t stack = {.ss_sp = memory, .ss_size = stack_size};
    if (sigaltstack(&stack, NULL) == 0) pthread_setspecific(stack_key, memory);
    else munmap(memory, stack_size);
}

// The first object is the executable itself.
static int read_image(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    (void)context;
    load_address = info->dlpi_addr;
    for (int index = 0; index < info->dlpi_phnum; index++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[index];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && start + segment->p_memsz > image_end) image_end = start + segment->p_memsz;
        if (segment->p_type != PT_NOTE) continue;
        const char *note = (const char *)start, *end = note + segment->p_memsz;
        while (note + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *header = (const ElfW(Nhdr) *)note;
            const char *name = note + sizeof *header;
            const unsigned char *content = (const unsigned char *)name + ((header->n_namesz + 3) & ~3u);
            note = (const char *)content + ((header->n_descsz + 3) & ~3u);
            if (header->n_type != NT_GNU_BUILD_ID || header->n_namesz != 4 || memcmp(name, "GNU", 4) != 0) continue;
            size_t length = header->n_descsz < 64 ? header->n_descsz : 64;
            for (size_t byte = 0; byte < length; byte++) {
                crash_build_id[2 * byte] = "0123456789abcdef"[content[byte] >> 4];
                crash_build_id[2 * byte + 1] = "0123456789abcdef"[content[byte] & 15];
            }
        }
    }
    return 1;
}

const char *aisle_build_id(void) {
    dl_iterate_phdr(read_image, NULL);
    return crash_build_id;
}

static char *append(char *out, const char *text) {
    while (*text) *out++ = *text++;
    return out;
}

static char *append_hex(char *out, uintptr_t value) {
    out = append(out, "0x");
    int shift = (int)sizeof value * 8 - 4;
    while (shift > 0 && (value >> shift) == 0) shift -= 4;
    for (; shift >= 0; shift -= 4) *out++ = "0123456789abcdef"[(value >> shift) & 15];
    return out;
}

static const char *signal_name(int number) {
    switch (number) {
    case SIGILL: return "SIGILL";
    case SIGTRAP: return "SIGTRAP";
    case SIGABRT: return "SIGABRT";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGSEGV: return "SIGSEGV";
    case SIGSYS: return "SIGSYS";
    default: return "a signal";
    }
}

static uintptr_t program_counter(const void *context) {
    const ucontext_t *machine = context;
#if defined(__x86_64__)
    return (uintptr_t)machine->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)machine->uc_mcontext.pc;
#else
    (void)machine;
    return 0;
#endif
}

static void report(int number, siginfo_t *info, void *context) {
    // Another thread may crash at the same time; only the first one writes a line and ends the process.
    int was_reporting = __sync_lock_test_and_set(&is_reporting, 1);
    while (was_reporting && !pthread_equal(reporter, pthread_self())) pause();
    if (!was_reporting) {
        reporter = pthread_self();
        char line[512];
        char *out = append(line, "aisle: fatal ");
        out = append(out, signal_name(number));
        out = append(out, ", version ");
        out = append(out, crash_version);
        out = append(out, ", build ");
        out = append(out, crash_build_id[0] ? crash_build_id : "unknown");
        uintptr_t counter = program_counter(context);
        out = append(out, ", at ");
        if (counter >= load_address && counter < image_end) {
            out = append(out, "aisle+");
            out = append_hex(out, counter - load_address);
        } else {
            out = append_hex(out, counter);
        }
        if (number == SIGSEGV || number == SIGBUS) {
            out = append(out, ", accessing ");
            out = append_hex(out, (uintptr_t)info->si_addr);
        }
        *out++ = '\n';
        ssize_t written = write(STDERR_FILENO, line, (size_t)(out - line));
        (void)written;
    }
    // The default action ends the process, with a core dump if enabled.
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(number, &usual, NULL);
    raise(number);
}

void aisle_report_crashes(const char *version) {
    strncpy(crash_version, version, sizeof crash_version - 1);
    dl_iterate_phdr(read_image, NULL);
    aisle_prepare_thread_for_crashes();
    struct sigaction action = {.sa_sigaction = report, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    for (size_t index = 0; index < sizeof fatal_signals / sizeof *fatal_signals; index++)
        sigaction(fatal_signals[index], &action, NULL);
}
