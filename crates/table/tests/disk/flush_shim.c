/* A disk that forgets, for tests. Loaded with LD_PRELOAD, it stands between a process and libc.
 *
 * Of each file whose path begins with SHIM_FILE it keeps what a power cut would leave: the bytes
 * as of the last flush, and the writes since. All calls reach the real files as well, so the
 * process notices nothing.
 *
 *   SHIM_FILE          the path of the database; its log is SHIM_FILE followed by "-wal"
 *   SHIM_CUTS          a folder for what power cuts leave
 *   SHIM_DELAY_MS      each flush takes this long
 *   SHIM_FAIL_FLUSH    the number of the flush of the log that fails with EIO, from 1;
 *                      its writes are lost, as Linux loses them
 *   SHIM_FULL_WRITE    the number of the write to the log that fails with ENOSPC, from 1
 *
 * Opening the path "/power-cut/NAME" cuts the power in that moment, in two ways, and goes on:
 * SHIM_CUTS/NAME-dropped has nothing of the writes since the last flush, SHIM_CUTS/NAME-torn has
 * about half of their sectors, in no order. A failed flush makes a cut named "failed".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { FDS = 1024, SECTOR = 512 };

/* A write or a truncation that was not flushed yet. `data` of a truncation is NULL. */
struct change {
    struct change *next;
    off_t at;
    size_t length;
    char *data;
};

/* A file as the disk has it. */
struct disk {
    const char *suffix;
    int exists;
    char *bytes;
    size_t length;
    struct change *first, **end;
};

static struct disk disks[] = {{.suffix = ""}, {.suffix = "-wal"}};
static struct disk *by_fd[FDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *watched, *cuts;
static long delay_ms, fail_flush, full_write, flushes, writes;

static int (*real_open)(const char *, int, ...);
static int (*real_openat)(int, const char *, int, ...);
static int (*real_close)(int);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_ftruncate)(int, off_t);
static int (*real_fdatasync)(int);

static long number(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

__attribute__((constructor)) static void start(void) {
    real_open = dlsym(RTLD_NEXT, "open64");
    real_openat = dlsym(RTLD_NEXT, "openat64");
    real_close = dlsym(RTLD_NEXT, "close");
    real_write = dlsym(RTLD_NEXT, "write");
    real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
    real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    watched = getenv("SHIM_FILE");
    cuts = getenv("SHIM_CUTS");
    delay_ms = number("SHIM_DELAY_MS");
    fail_flush = number("SHIM_FAIL_FLUSH");
    full_write = number("SHIM_FULL_WRITE");
    for (size_t n = 0; n < 2; n++)
        disks[n].end = &disks[n].first;
}

static struct disk *disk_of(int fd) {
    return fd >= 0 && fd < FDS ? by_fd[fd] : NULL;
}

static int is_log(const struct disk *disk) {
    return disk == &disks[1];
}

/* The rest of this section is called with the lock held. */

static void resize(struct disk *disk, size_t length) {
    disk->bytes = realloc(disk->bytes, length + 1);
    if (length > disk->length)
        memset(disk->bytes + disk->length, 0, length - disk->length);
    disk->length = length;
}

static void remember(struct disk *disk, off_t at, const void *data, size_t length) {
    struct change *change = calloc(1, sizeof *change);
    change->at = at;
    change->length = length;
    if (data) {
        change->data = malloc(length + 1);
        memcpy(change->data, data, length);
    }
    *disk->end = change;
    disk->end = &change->next;
}

static void put(struct disk *disk, off_t at, const char *data, size_t length) {
    if (disk->length < at + length)
        resize(disk, at + length);
    memcpy(disk->bytes + at, data, length);
}

/* Everything up to `last` leaves the list: onto the disk, or lost. */
static void settle(struct disk *disk, struct change *last, int is_kept) {
    while (last && disk->first) {
        struct change *change = disk->first;
        if (is_kept && change->data)
            put(disk, change->at, change->data, change->length);
        else if (is_kept)
            resize(disk, change->at);
        disk->first = change->next;
        if (!disk->first)
            disk->end = &disk->first;
        int is_last = change == last;
        free(change->data);
        free(change);
        if (is_last)
            break;
    }
    disk->exists |= is_kept;
}

static uint32_t dice(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

/* Sectors reach the disk in any order; each as a whole. */
static void tear(struct disk *disk, uint32_t *state) {
    for (struct change *change = disk->first; change; change = change->next) {
        disk->exists = 1;
        if (!change->data) {
            if (dice(state) % 2)
                resize(disk, change->at);
            continue;
        }
        off_t at = change->at, end = change->at + change->length;
        while (at < end) {
            off_t next = (at / SECTOR + 1) * SECTOR;
            if (next > end)
                next = end;
            if (dice(state) % 2)
                put(disk, at, change->data + (at - change->at), next - at);
            at = next;
        }
    }
}

static void save(const struct disk *disk, const char *name, const char *kind) {
    char path[4096];
    if (!disk->exists)
        return;
    snprintf(path, sizeof path, "%s/%s-%s%s", cuts, name, kind, disk->suffix);
    int fd = real_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (size_t at = 0; at < disk->length;) {
        ssize_t written = real_write(fd, disk->bytes + at, disk->length - at);
        if (written <= 0)
            abort();
        at += written;
    }
    real_close(fd);
}

static void cut(const char *name) {
    uint32_t state = 1;
    for (const char *c = name; *c; c++)
        state = state * 31 + (unsigned char)*c;
    for (size_t n = 0; n < 2; n++) {
        save(&disks[n], name, "dropped");
        struct disk torn = disks[n];
        torn.bytes = malloc(torn.length + 1);
        memcpy(torn.bytes, disks[n].bytes ? disks[n].bytes : "", torn.length);
        tear(&torn, &state);
        save(&torn, name, "torn");
        free(torn.bytes);
    }
}

/* What libc offers. */

static int opened(int fd, const char *path) {
    if (fd < 0 || fd >= FDS || !watched)
        return fd;
    size_t length = strlen(watched);
    if (strncmp(path, watched, length) != 0)
        return fd;
    pthread_mutex_lock(&lock);
    for (size_t n = 0; n < 2; n++)
        if (strcmp(path + length, disks[n].suffix) == 0)
            by_fd[fd] = &disks[n];
    pthread_mutex_unlock(&lock);
    return fd;
}

static int is_cut(const char *path) {
    static const char prefix[] = "/power-cut/";
    if (strncmp(path, prefix, sizeof prefix - 1) != 0)
        return 0;
    pthread_mutex_lock(&lock);
    cut(path + sizeof prefix - 1);
    pthread_mutex_unlock(&lock);
    errno = ENOENT;
    return 1;
}

static int any_open(const char *path, int flags, mode_t mode) {
    return is_cut(path) ? -1 : opened(real_open(path, flags, mode), path);
}

static int any_openat(int folder, const char *path, int flags, mode_t mode) {
    return is_cut(path) ? -1 : opened(real_openat(folder, path, flags, mode), path);
}

#define MODE_OF(flags)                                                                             \
    mode_t mode = 0;                                                                               \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                                                         \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode = va_arg(rest, mode_t);                                                               \
        va_end(rest);                                                                              \
    }

int open(const char *path, int flags, ...) {
    MODE_OF(flags)
    return any_open(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE_OF(flags)
    return any_open(path, flags | O_LARGEFILE, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    MODE_OF(flags)
    return any_openat(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) {
    MODE_OF(flags)
    return any_openat(folder, path, flags | O_LARGEFILE, mode);
}

int close(int fd) {
    pthread_mutex_lock(&lock);
    if (fd >= 0 && fd < FDS)
        by_fd[fd] = NULL;
    pthread_mutex_unlock(&lock);
    return real_close(fd);
}

static ssize_t any_pwrite(int fd, const void *data, size_t length, off_t at) {
    struct disk *disk = disk_of(fd);
    if (!disk)
        return real_pwrite(fd, data, length, at);
    pthread_mutex_lock(&lock);
    ssize_t written = -1;
    if (is_log(disk) && ++writes == full_write)
        errno = ENOSPC;
    else
        written = real_pwrite(fd, data, length, at);
    if (written > 0)
        remember(disk, at, data, written);
    pthread_mutex_unlock(&lock);
    return written;
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t at) {
    return any_pwrite(fd, data, length, at);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off_t at) {
    return any_pwrite(fd, data, length, at);
}

ssize_t write(int fd, const void *data, size_t length) {
    /* SQLite writes these files with pwrite only. */
    if (disk_of(fd))
        abort();
    return real_write(fd, data, length);
}

static int any_ftruncate(int fd, off_t length) {
    struct disk *disk = disk_of(fd);
    if (!disk)
        return real_ftruncate(fd, length);
    pthread_mutex_lock(&lock);
    int result = real_ftruncate(fd, length);
    if (result == 0)
        remember(disk, length, NULL, 0);
    pthread_mutex_unlock(&lock);
    return result;
}

int ftruncate(int fd, off_t length) {
    return any_ftruncate(fd, length);
}

int ftruncate64(int fd, off_t length) {
    return any_ftruncate(fd, length);
}

static int flush(int fd) {
    struct disk *disk = disk_of(fd);
    if (!disk)
        return real_fdatasync(fd);
    /* Only what was written before the call is certain to be flushed by it. */
    pthread_mutex_lock(&lock);
    struct change *last = NULL;
    for (struct change *change = disk->first; change; change = change->next)
        last = change;
    pthread_mutex_unlock(&lock);
    struct timespec pause = {delay_ms / 1000, delay_ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
    pthread_mutex_lock(&lock);
    int is_failure = is_log(disk) && ++flushes == fail_flush;
    settle(disk, last, !is_failure);
    if (is_failure)
        cut("failed");
    pthread_mutex_unlock(&lock);
    if (is_failure)
        errno = EIO;
    return is_failure ? -1 : 0;
}

int fsync(int fd) {
    return flush(fd);
}

int fdatasync(int fd) {
    return flush(fd);
}
