# SPDX-License-Identifier: Apache-2.0
"""A library for LD_PRELOAD: while the file $FAILING_DISK exists, nothing can be written to files, as on a disk that fails; or,
when there is something in that file, as on one that is full."""
import subprocess

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static long access_size(const char* name) {
    struct stat status;
    return stat(name, &status) == 0 ? (long)status.st_size : 0;
}

static int fails(int file) {
    const int before = errno;
    const char* name = getenv("FAILING_DISK");
    struct stat status;
    const int failing = name && access(name, F_OK) == 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    errno = !failing ? before : access_size(name) ? ENOSPC : EIO;
    return failing;
}

#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

ssize_t write(int file, const void* data, size_t size) { return fails(file) ? -1 : REAL(write)(file, data, size); }
ssize_t writev(int file, const struct iovec* parts, int count) {
    return fails(file) ? -1 : REAL(writev)(file, parts, count);
}
ssize_t pwrite64(int file, const void* data, size_t size, off64_t at) {
    return fails(file) ? -1 : REAL(pwrite64)(file, data, size, at);
}
int fsync(int file) { return fails(file) ? -1 : REAL(fsync)(file); }
int fdatasync(int file) { return fails(file) ? -1 : REAL(fdatasync)(file); }
int ftruncate64(int file, off64_t size) { return fails(file) ? -1 : REAL(ftruncate64)(file, size); }
"""


def compiled(path):
    """Writes the library; whether there is a compiler."""
    try:
        done = subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-x", "c", "-o", path, "-", "-ldl"], input=SOURCE, text=True,
                              check=False)
    except FileNotFoundError:
        return False
    return done.returncode == 0
