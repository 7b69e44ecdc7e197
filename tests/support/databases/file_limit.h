// SPDX-License-Identifier: Apache-2.0
#pragma once
// FileLimit: while it is there, no file of this process grows beyond the size that one of them has now, as if the disk
// were full. A write beyond it fails, and nothing else.

#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <string>

namespace yk::testing {

class FileLimit {
public:
    explicit FileLimit(const std::string& file) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        ::rlimit now = before_;
        now.rlim_cur = std::filesystem::file_size(file);
        ::setrlimit(RLIMIT_FSIZE, &now);
    }
    ~FileLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        static_cast<void>(std::signal(SIGXFSZ, handler_));
    }
    FileLimit(const FileLimit&) = delete;
    FileLimit& operator=(const FileLimit&) = delete;

private:
    void (*handler_)(int);
    ::rlimit before_{};
};

} // namespace yk::testing
