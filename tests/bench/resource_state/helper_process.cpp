// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/resource_state/helper_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "libcore/base/check.h"

namespace yk::bench {

HelperProcess::HelperProcess(const std::function<Result<void>()>& work) {
    int ends[2];
    YK_CHECK(::pipe2(ends, O_CLOEXEC) == 0, "cannot make a pipe");
    process_ = ::fork();
    YK_CHECK(process_ >= 0, "cannot fork");
    if (process_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::close(ends[1]);
        char byte = 0;
        if (::read(ends[0], &byte, 1) != 1) ::_exit(0); // it was not needed
        const auto done = work();
        if (!done.ok()) std::fprintf(stderr, "%s\n", done.error().text().c_str());
        ::_exit(done.ok() ? 0 : 1);
    }
    ::close(ends[0]);
    go_ = ends[1];
}

HelperProcess::~HelperProcess() {
    ::close(go_);
    static_cast<void>(wait());
}

Result<void> HelperProcess::run() {
    if (::write(go_, "g", 1) != 1) return Error::of("the process beside this one is gone");
    if (wait() != 0) return Error::of("the process beside this one failed; the reason stands above");
    return {};
}

int HelperProcess::wait() {
    int status = 0;
    while (process_ > 0 && ::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return status;
}

} // namespace yk::bench
