// SPDX-License-Identifier: Apache-2.0
#include "protocol/work/output.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace yk::work {
namespace {

constexpr std::size_t kLongestPart = 100; // bytes, before the sum

Error system_error(const std::string& what) {
    const int number = errno;
    return Error::coded(number, what + ": " + std::strerror(number));
}

class FileOutput final : public Output {
public:
    FileOutput(Descriptor file, std::uint64_t size, std::uint64_t limit)
        : file_(std::move(file)), size_(size), limit_(limit) {}

    void write(std::string_view text) override {
        if (size_ >= limit_) return;
        const auto taken = text.substr(0, static_cast<std::size_t>(limit_ - size_));
        append(taken);
        size_ += taken.size();
        if (size_ >= limit_) append(limit_text(limit_));
    }

private:
    /// What a full disk does not take is lost.
    void append(std::string_view text) const {
        while (!text.empty()) {
            const ssize_t wrote = ::write(file_.get(), text.data(), text.size());
            if (wrote < 0 && errno == EINTR) continue;
            if (wrote <= 0) return;
            text.remove_prefix(static_cast<std::size_t>(wrote));
        }
    }

    Descriptor file_;
    std::uint64_t size_ = 0;
    const std::uint64_t limit_;
};

/// FNV-1a.
std::uint64_t sum_of(std::string_view text) {
    std::uint64_t sum = 14695981039346656037ULL;
    for (const char each : text) sum = (sum ^ static_cast<unsigned char>(each)) * 1099511628211ULL;
    return sum;
}

bool stays(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

} // namespace

std::string limit_text(std::uint64_t limit) {
    return "\n[output beyond " + std::to_string(limit) + " bytes is dropped]\n";
}

std::string file_name_part(std::string_view text) {
    std::string name;
    std::array<char, 24> number{};
    for (const char each : text) {
        if (name.size() > kLongestPart) break;
        if (stays(each)) {
            name += each;
            continue;
        }
        std::snprintf(number.data(), number.size(), "%%%02X", static_cast<unsigned>(static_cast<unsigned char>(each)));
        name += number.data();
    }
    if (name.size() <= kLongestPart) return name;
    std::snprintf(number.data(), number.size(), "~%016llX", static_cast<unsigned long long>(sum_of(text)));
    return name.substr(0, kLongestPart) + number.data();
}

Result<OutputFolder> OutputFolder::open(const std::string& path, std::uint64_t limit) {
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return system_error(path);
    Descriptor folder{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!folder.is_open()) return system_error(path);
    struct stat info {};
    if (::fstat(folder.get(), &info) != 0) return system_error(path);
    const bool is_own = info.st_uid == ::geteuid() || info.st_uid == 0;
    if (!is_own || ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (info.st_mode & S_ISVTX) == 0))
        return Error::of(path + ": others may change what is in this folder; take one of your own (chmod go-w)");
    return OutputFolder{path, std::move(folder), limit};
}

Result<std::unique_ptr<Output>> OutputFolder::file(const std::string& name) const {
    const std::string shown = path_ + "/" + name;
    constexpr int kHow = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    for (int attempt = 0; attempt < 2; ++attempt) {
        Descriptor file{::openat(folder_.get(), name.c_str(), kHow, 0600)};
        if (!file.is_open()) return system_error(shown);
        struct stat info {};
        if (::fstat(file.get(), &info) != 0) return system_error(shown);
        if (!S_ISREG(info.st_mode) || info.st_uid != ::geteuid() || info.st_nlink != 1)
            return Error::of(shown + ": not a file of this user alone; move it away");
        if ((info.st_mode & 07777) != 0600 && ::fchmod(file.get(), 0600) != 0) return system_error(shown);
        const auto size = static_cast<std::uint64_t>(info.st_size);
        if (size < limit_ || attempt == 1)
            return std::unique_ptr<Output>{std::make_unique<FileOutput>(std::move(file), size, limit_)};
        if (::renameat(folder_.get(), name.c_str(), folder_.get(), (name + ".old").c_str()) != 0)
            return system_error(shown);
    }
    return Error::of(shown + ": cannot be set aside"); // not reached
}

} // namespace yk::work
