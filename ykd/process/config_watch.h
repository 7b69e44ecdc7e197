// SPDX-License-Identifier: Apache-2.0
#pragma once
// ConfigWatch (--watch-config): notices that one of the files changed, by time, size and inode. A change is reported
// when the file is there and was the same at two looks in a row, so that a file that is being written, or replaced by
// way of a deletion, is not read before it is complete.
//
// Thread: the caller's, one.

#include <cstdint>
#include <string>
#include <vector>

#include <sys/stat.h>

namespace yk::service {

class ConfigWatch {
public:
    explicit ConfigWatch(std::vector<std::string> files) : files_(std::move(files)) {
        for (const std::string& file : files_) seen_.push_back(stamp_of(file));
        taken_ = seen_;
    }

    /// Looks at the files, one stat(2) each; to be called about once a second. True: a changed file is complete now.
    [[nodiscard]] bool changed() {
        bool any = false;
        for (std::size_t i = 0; i < files_.size(); ++i) {
            const Stamp now = stamp_of(files_[i]);
            const bool settled = now == seen_[i] && now.size >= 0;
            seen_[i] = now;
            if (!settled || now == taken_[i]) continue;
            taken_[i] = now;
            any = true;
        }
        return any;
    }

private:
    struct Stamp {
        ino_t inode = 0;
        off_t size = -1; // -1: the file is not there
        std::int64_t seconds = 0, nanos = 0;
        bool operator==(const Stamp&) const = default;
    };
    static Stamp stamp_of(const std::string& file) {
        struct stat info {};
        if (::stat(file.c_str(), &info) != 0) return {};
        return {info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
    }

    std::vector<std::string> files_;
    std::vector<Stamp> seen_, taken_; // at the last look; as of the last reported change
};

} // namespace yk::service
