# SPDX-License-Identifier: Apache-2.0
"""A library for LD_PRELOAD: the process is killed just before the n-th write of its database (n: $CRASH_AT)."""
import subprocess

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_long done;

static void count(int file) {
    const char* at = getenv("CRASH_AT");
    char link[64], path[512];
    ssize_t size;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    size = readlink(link, path, sizeof path - 1);
    if (!at || size <= 0) return;
    path[size] = 0;
    if (strstr(path, "/mcs.db") && atomic_fetch_add(&done, 1) + 1 == atol(at)) kill(getpid(), SIGKILL);
}

#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

ssize_t pwrite64(int file, const void* data, size_t size, off64_t at) {
    count(file);
    return REAL(pwrite64)(file, data, size, at);
}
int fdatasync(int file) {
    count(file);
    return REAL(fdatasync)(file);
}
"""


def compiled(path):
    """Writes the library; whether there is a compiler."""
    try:
        done = subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-x", "c", "-o", path, "-", "-ldl"], input=SOURCE, text=True,
                              check=False)
    except FileNotFoundError:
        return False
    return done.returncode == 0
