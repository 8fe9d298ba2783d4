/* Wraps functions of the C library (LD_PRELOAD) and intercepts every write, sync and change of names below one
 * folder. It records them, kills the process at one of them, or makes the disk fail.
 *
 *   PROOF_ROOT   the folder; without it nothing is touched
 *   PROOF_LOG    where to record, in order: one record for each call that succeeded
 *   PROOF_KILL   number of the call, from 1, at which the process is killed: before it, or in the middle
 *                of it with PROOF_TEAR=1 (half of the bytes are written)
 *   PROOF_EIO    number of the sync, from 1, that fails with EIO
 *   PROOF_HISTORY  a file outside of the folder, where a line is added at the moment when that sync fails
 *   PROOF_FULL   number of the call, from 1, from which on nothing can be written: ENOSPC
 *
 * Three files are switches for a process that runs: while PROOF_ROOT.full exists, every write fails with
 * ENOSPC; while PROOF_ROOT.eio exists, every sync with EIO; while PROOF_ROOT.rofs exists, everything that
 * would change something with EROFS. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static char root[PATH_MAX];
static size_t root_length;
static int log_fd = -1;
static long kill_at, eio_at, full_at, calls, syncs;
static int tear;

static ssize_t (*real_pwrite)(int, const void *, size_t, off64_t);
static ssize_t (*real_write)(int, const void *, size_t);
static int (*real_ftruncate)(int, off64_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_unlink)(const char *);
static int (*real_rename)(const char *, const char *);
static int (*real_mkdir)(const char *, mode_t);
static int (*real_open)(const char *, int, ...);
static int (*real_open64)(const char *, int, ...);

static long number(const char *name) {
  const char *text = getenv(name);
  return text == NULL ? 0 : atol(text);
}

static void prepare(void) {
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_write = dlsym(RTLD_NEXT, "write");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_unlink = dlsym(RTLD_NEXT, "unlink");
  real_rename = dlsym(RTLD_NEXT, "rename");
  real_mkdir = dlsym(RTLD_NEXT, "mkdir");
  real_open = dlsym(RTLD_NEXT, "open");
  real_open64 = dlsym(RTLD_NEXT, "open64");
  const char *given = getenv("PROOF_ROOT");
  if (given == NULL || strlen(given) >= sizeof root - 8) return;
  strcpy(root, given);
  root_length = strlen(root);
  kill_at = number("PROOF_KILL");
  eio_at = number("PROOF_EIO");
  full_at = number("PROOF_FULL");
  tear = number("PROOF_TEAR") != 0;
  const char *log = getenv("PROOF_LOG");
  if (log != NULL) log_fd = real_open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int is_below(const char *path) {
  return root_length > 0 && strncmp(path, root, root_length) == 0 &&
         (path[root_length] == '/' || path[root_length] == 0);
}

/* Whether an open file is below the folder, and its path. SQLite's index of its log (-shm) is left out, because
 * SQLite rebuilds it after a crash. */
static int is_seen(int fd, char *path) {
  pthread_once(&prepared, prepare);
  if (root_length == 0 || fd == log_fd) return 0;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  if (length > 4 && strcmp(path + length - 4, "-shm") == 0) return 0;
  return is_below(path);
}

static int is_switched(const char *name) {
  char path[PATH_MAX + 8];
  snprintf(path, sizeof path, "%s.%s", root, name);
  return access(path, F_OK) == 0;
}

/* The errno that a write fails with, or 0. */
static int write_error(void) {
  if (is_switched("rofs")) return EROFS;
  return (full_at > 0 && calls >= full_at) || is_switched("full") ? ENOSPC : 0;
}

/* Counts a call; true for the one at which the process is to be killed. */
static int is_last(void) {
  calls += 1;
  return calls == kill_at;
}

static void end(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/* Adds a line to the history of the process, so that acknowledgements after the failure can be told apart. */
static void tell_failure(int of) {
  struct stat status;
  int is_folder = fstat(of, &status) == 0 && S_ISDIR(status.st_mode);
  char line[64];
  int length = snprintf(line, sizeof line, "{\"say\":\"sync failed\",\"of\":\"%s\"}\n",
                        is_folder ? "folder" : "file");
  const char *path = getenv("PROOF_HISTORY");
  int fd = path == NULL ? -1 : real_open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) return;
  if (real_write(fd, line, (size_t)length) < 0) abort();
  close(fd);
}

static void put(const void *data, size_t length) {
  const char *at = data;
  while (length > 0) {
    ssize_t written = real_write(log_fd, at, length);
    if (written <= 0) abort();
    at += written;
    length -= (size_t)written;
  }
}

/* Writes a record: kind, number of the call, length of the path, offset or size, length of the data; then the path
 * and the data. A call that changed nothing is counted, too, but has no record. */
static void record(char kind, const char *path, uint64_t at, const void *data, size_t length) {
  if (log_fd < 0) return;
  unsigned char head[24] = {(unsigned char)kind, calls & 255, (calls >> 8) & 255, (calls >> 16) & 255};
  uint32_t path_length = (uint32_t)strlen(path);
  uint64_t data_length = length;
  memcpy(head + 4, &path_length, 4);
  memcpy(head + 8, &at, 8);
  memcpy(head + 16, &data_length, 8);
  put(head, sizeof head);
  put(path, path_length);
  put(data, length);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t at) {
  char path[PATH_MAX];
  if (!is_seen(fd, path)) return real_pwrite(fd, data, length, at);
  pthread_mutex_lock(&mutex);
  if (is_last()) {
    if (tear) real_pwrite(fd, data, length / 2, at);
    end();
  }
  ssize_t written = -1;
  int fault = write_error();
  if (fault != 0) errno = fault;
  else written = real_pwrite(fd, data, length, at);
  int error = errno;
  if (written > 0) record('W', path, (uint64_t)at, data, (size_t)written);
  pthread_mutex_unlock(&mutex);
  errno = error;
  return written;
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t at) {
  return pwrite64(fd, data, length, at);
}

ssize_t write(int fd, const void *data, size_t length) {
  char path[PATH_MAX];
  if (!is_seen(fd, path)) return real_write(fd, data, length);
  pthread_mutex_lock(&mutex);
  if (is_last()) {
    if (tear) real_write(fd, data, length / 2);
    end();
  }
  ssize_t written = -1;
  off64_t at = 0;
  int fault = write_error();
  if (fault != 0) errno = fault;
  else {
    written = real_write(fd, data, length);
    at = written > 0 ? lseek64(fd, 0, SEEK_CUR) - written : 0;
  }
  int error = errno;
  if (written > 0) record('W', path, (uint64_t)at, data, (size_t)written);
  pthread_mutex_unlock(&mutex);
  errno = error;
  return written;
}

int ftruncate64(int fd, off64_t size) {
  char path[PATH_MAX];
  if (!is_seen(fd, path)) return real_ftruncate(fd, size);
  pthread_mutex_lock(&mutex);
  if (is_last()) end();
  int result = real_ftruncate(fd, size);
  int error = errno;
  if (result == 0) record('T', path, (uint64_t)size, "", 0);
  pthread_mutex_unlock(&mutex);
  errno = error;
  return result;
}

int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

static int sync_by(int (*real)(int), int fd) {
  char path[PATH_MAX];
  if (!is_seen(fd, path)) return real(fd);
  pthread_mutex_lock(&mutex);
  if (is_last()) end();
  syncs += 1;
  int result = -1;
  if (syncs == eio_at) tell_failure(fd);
  if (syncs == eio_at || is_switched("eio")) errno = EIO;
  else result = real(fd);
  int error = errno;
  if (result == 0) record('S', path, 0, "", 0);
  pthread_mutex_unlock(&mutex);
  errno = error;
  return result;
}

int fsync(int fd) {
  pthread_once(&prepared, prepare);
  return sync_by(real_fsync, fd);
}

int fdatasync(int fd) {
  pthread_once(&prepared, prepare);
  return sync_by(real_fdatasync, fd);
}

int unlink(const char *path) {
  pthread_once(&prepared, prepare);
  if (!is_below(path)) return real_unlink(path);
  pthread_mutex_lock(&mutex);
  if (is_last()) end();
  int result = real_unlink(path);
  int error = errno;
  if (result == 0) record('U', path, 0, "", 0);
  pthread_mutex_unlock(&mutex);
  errno = error;
  return result;
}

int rename(const char *from, const char *to) {
  pthread_once(&prepared, prepare);
  if (!is_below(from)) return real_rename(from, to);
  pthread_mutex_lock(&mutex);
  if (is_last()) end();
  int result = real_rename(from, to);
  int error = errno;
  if (result == 0) record('R', from, 0, to, strlen(to));
  pthread_mutex_unlock(&mutex);
  errno = error;
  return result;
}

int mkdir(const char *path, mode_t mode) {
  pthread_once(&prepared, prepare);
  if (!is_below(path)) return real_mkdir(path, mode);
  pthread_mutex_lock(&mutex);
  if (is_last()) end();
  int result = real_mkdir(path, mode);
  int error = errno;
  if (result == 0) record('D', path, 0, "", 0);
  pthread_mutex_unlock(&mutex);
  errno = error;
  return result;
}

static int open_by(int (*real)(const char *, int, ...), const char *path, int flags, mode_t mode) {
  size_t length = strlen(path);
  int is_index = length > 4 && strcmp(path + length - 4, "-shm") == 0;
  if (!is_below(path) || is_index || (flags & (O_CREAT | O_TRUNC)) == 0) return real(path, flags, mode);
  pthread_mutex_lock(&mutex);
  int was_there = access(path, F_OK) == 0;
  if (is_last()) end();
  int fd = -1;
  int fault = was_there ? 0 : write_error();
  if (fault != 0) errno = fault;
  else fd = real(path, flags, mode);
  int error = errno;
  if (fd >= 0 && !was_there) record('C', path, 0, "", 0);
  else if (fd >= 0 && (flags & O_TRUNC) != 0) record('T', path, 0, "", 0);
  pthread_mutex_unlock(&mutex);
  errno = error;
  return fd;
}

static mode_t mode_in(va_list rest, int flags) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
}

int open(const char *path, int flags, ...) {
  pthread_once(&prepared, prepare);
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_in(rest, flags);
  va_end(rest);
  return open_by(real_open, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  pthread_once(&prepared, prepare);
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_in(rest, flags);
  va_end(rest);
  return open_by(real_open64, path, flags, mode);
}
