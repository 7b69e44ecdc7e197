// SPDX-License-Identifier: Apache-2.0
#pragma once
// FewDescriptors: while it lives the process can open so many more files, and then none. So a file can be written, and
// its folder not be synced.

#include <sys/resource.h>
#include <unistd.h>

namespace yk::testing {

class FewDescriptors {
public:
    explicit FewDescriptors(unsigned more) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const int next = ::dup(0); // the lowest one that is free
        ::close(next);
        rlimit few = before_;
        few.rlim_cur = static_cast<rlim_t>(next) + more;
        ::setrlimit(RLIMIT_NOFILE, &few);
    }
    ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    FewDescriptors(const FewDescriptors&) = delete;
    FewDescriptors& operator=(const FewDescriptors&) = delete;

private:
    rlimit before_{};
};

} // namespace yk::testing
