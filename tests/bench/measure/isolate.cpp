// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/measure/isolate.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "libcore/base/check.h"

namespace yk::bench {

std::string in_child(const std::function<void()>& body) {
    std::fflush(nullptr);
    const pid_t child = fork();
    YK_CHECK(child >= 0, "cannot fork");
    if (child == 0) {
        body();
        std::fflush(nullptr);
        _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status))
        return fmt::format("killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0) return fmt::format("ended with status {}", WEXITSTATUS(status));
    return {};
}

SharedBytes::SharedBytes(std::size_t size)
    : data_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)), size_(size) {
    YK_CHECK(data_ != MAP_FAILED, "cannot map shared memory");
}

SharedBytes::~SharedBytes() {
    munmap(data_, size_);
}

Result<Sample> isolated(const std::string& name, const std::function<Sample()>& measure) {
    const Shared<Sample> sample;
    const std::string ended = in_child([&] { *sample = measure(); });
    if (!ended.empty()) return Error::of(name + " " + ended);
    return *sample;
}

Result<Sample> isolated_client(const std::function<Result<Sample>()>& measure) {
    const Shared<Sample> shared;
    const std::string ended = in_child([&] {
        const auto sample = measure();
        if (!sample.ok()) std::fprintf(stderr, "%s\n", sample.error().text().c_str());
        if (sample.ok()) *shared = sample.value();
    });
    if (!ended.empty()) return Error::of("the client " + ended);
    if (shared->asked == 0) return Error::of("failed; the reason stands above");
    return *shared;
}

} // namespace yk::bench
