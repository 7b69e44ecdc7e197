// SPDX-License-Identifier: Apache-2.0
#include "protocol/work/output.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

namespace yk::work {
namespace {

constexpr std::size_t kLongestPart = 50; // bytes, before the sum: three parts are one name
constexpr std::size_t kLookOver = 256;   // a folder, after so many new files
constexpr mode_t kMode = 0600;

Error system_error(const std::string& what) {
    const int number = errno;
    return Error::coded(number, what + ": " + std::strerror(number));
}

class FileOutput final : public Output {
public:
    using Names = std::multiset<std::string>;
    struct Bounds {
        std::uint64_t limit = 0;
        std::shared_ptr<FreeSpace> space;
    };
    FileOutput(Descriptor file, std::uint64_t size, Bounds bounds, std::shared_ptr<Names> written,
               const std::string& name)
        : file_(std::move(file)),
          size_(size),
          bounds_(std::move(bounds)),
          written_(std::move(written)),
          name_(written_->insert(name)) {}
    ~FileOutput() override {
        if (dropped_ != 0 && bounds_.space->allows(0)) add(gap_text(dropped_));
        written_->erase(name_);
    }

    void write(std::string_view text) override {
        if (size_ >= bounds_.limit) return;
        if (!bounds_.space->allows(text.size())) {
            dropped_ += text.size();
            return;
        }
        if (dropped_ != 0) add(gap_text(std::exchange(dropped_, 0)));
        add(text);
    }

private:
    void add(std::string_view text) {
        if (size_ >= bounds_.limit) return;
        const auto taken = text.substr(0, static_cast<std::size_t>(bounds_.limit - size_));
        append(taken);
        size_ += taken.size();
        if (size_ >= bounds_.limit) append(limit_text(bounds_.limit));
    }

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
    std::uint64_t dropped_ = 0; // bytes, since the filesystem is nearly full
    const Bounds bounds_;
    const std::shared_ptr<Names> written_;
    const Names::iterator name_; // in it
};

/// FNV-1a.
std::uint64_t sum_of(std::string_view text) {
    std::uint64_t sum = 14695981039346656037ULL;
    for (const char each : text) sum = (sum ^ static_cast<unsigned char>(each)) * 1099511628211ULL;
    return sum;
}

std::string mebibytes(std::uint64_t bytes) {
    return std::to_string(bytes >> 20U) + " MiB";
}

bool stays(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

} // namespace

std::string limit_text(std::uint64_t limit) {
    return "\n[output beyond " + std::to_string(limit) + " bytes is dropped]\n";
}

std::string gap_text(std::uint64_t bytes) {
    return "\n[" + std::to_string(bytes) + " bytes of output were dropped: the filesystem was nearly full]\n";
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

Result<OutputFolder> OutputFolder::open(const std::string& path, std::uint64_t limit, FreeSpace::Probe probe) {
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return system_error(path);
    Descriptor folder{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!folder.is_open()) return system_error(path);
    struct stat info {};
    if (::fstat(folder.get(), &info) != 0) return system_error(path);
    const bool is_own = info.st_uid == ::geteuid() || info.st_uid == 0;
    if (!is_own || ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (info.st_mode & S_ISVTX) == 0))
        return Error::of(path + ": others may change what is in this folder; take one of your own (chmod go-w)");
    if (!probe) {
        const auto same = std::make_shared<const Descriptor>(::fcntl(folder.get(), F_DUPFD_CLOEXEC, 0));
        if (!same->is_open()) return system_error(path);
        probe = [same] { return disk_space_of(same->get()); };
    }
    return OutputFolder{path, std::move(folder), limit, std::move(probe)};
}

void OutputFolder::on_shortage(std::function<void(bool is_short, const std::string& sentence)> say) {
    space_->on_change([path = path_, say = std::move(say)](bool is_short, const DiskSpace& space) {
        if (!is_short) return say(false, path + ": the output of commands is written again");
        say(true, path + ": the output of commands is dropped, and they go on: of its filesystem " +
                      mebibytes(space.free) + " are free, and the last " + mebibytes(least_free(space.size)) +
                      " are left to others; remove or move what fills it");
    });
}

Result<std::unique_ptr<Output>> OutputFolder::file(const std::string& name) {
    if (most_files_ && made_++ % kLookOver == 0) remove_oldest();
    const std::string shown = path_ + "/" + name;
    constexpr int kHow = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    for (int attempt = 0; attempt < 2; ++attempt) {
        Descriptor file{::openat(folder_.get(), name.c_str(), kHow, kMode)};
        if (!file.is_open()) return system_error(shown);
        struct stat info {};
        if (::fstat(file.get(), &info) != 0) return system_error(shown);
        if (!S_ISREG(info.st_mode) || info.st_uid != ::geteuid() || info.st_nlink != 1)
            return Error::of(shown + ": not a file of this user alone; move it away");
        if ((info.st_mode & 07777) != kMode && ::fchmod(file.get(), kMode) != 0) return system_error(shown);
        const auto size = static_cast<std::uint64_t>(info.st_size);
        if (size < limit_ || attempt == 1)
            return std::unique_ptr<Output>{std::make_unique<FileOutput>(
                std::move(file), size, FileOutput::Bounds{limit_, space_}, written_, name)};
        if (::renameat(folder_.get(), name.c_str(), folder_.get(), (name + ".old").c_str()) != 0)
            return system_error(shown);
    }
    return Error::of(shown + ": cannot be set aside"); // not reached
}

/// What cannot be looked at or removed stays: it is only output.
void OutputFolder::remove_oldest() const {
    const int copy = ::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, int (*)(DIR*)> folder{copy >= 0 ? ::fdopendir(copy) : nullptr, ::closedir};
    if (!folder) return;
    std::vector<std::pair<std::int64_t, std::string>> files; // by when they were written last
    while (const dirent* const each = ::readdir(folder.get())) {
        struct stat info {};
        const std::string name = each->d_name;
        if (written_->count(name) != 0) continue;
        if (::fstatat(folder_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode)) continue;
        files.emplace_back(static_cast<std::int64_t>(info.st_mtim.tv_sec), name);
    }
    const std::size_t all = files.size() + written_->size();
    if (all <= *most_files_) return;
    const std::size_t surplus = std::min(files.size(), all - *most_files_);
    std::sort(files.begin(), files.end());
    for (std::size_t at = 0; at < surplus; ++at)
        static_cast<void>(::unlinkat(folder_.get(), files[at].second.c_str(), 0));
}

std::string output_file_name(const si::Allocation& allocation) {
    const std::string& partition = allocation.partition_name;
    const auto bracket = partition.find(']');
    const std::string own = bracket == std::string::npos ? partition : partition.substr(bracket + 1);
    return (own.empty() || own == "default" ? std::string{} : file_name_part(own) + "+") +
           file_name_part(allocation.application_id) + "+" + file_name_part(allocation.allocation_key) + ".log";
}

Result<std::optional<OutputPart>> read_output(const std::string& folder, const std::string& name, std::uint64_t offset,
                                              std::size_t most) {
    const std::string path = folder + "/" + name;
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    if (!file.is_open() && errno == ENOENT) return std::optional<OutputPart>{};
    struct stat info {};
    if (!file.is_open() || ::fstat(file.get(), &info) != 0) return system_error(path);
    if (!S_ISREG(info.st_mode)) return Error::of(path + ": not a file");
    OutputPart part;
    part.size = static_cast<std::uint64_t>(info.st_size);
    part.text.resize(static_cast<std::size_t>(std::min<std::uint64_t>(most, part.size - std::min(offset, part.size))));
    std::size_t taken = 0;
    while (taken < part.text.size()) {
        const ssize_t got =
            ::pread(file.get(), part.text.data() + taken, part.text.size() - taken, static_cast<off_t>(offset + taken));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_error(path);
        if (got == 0) break;
        taken += static_cast<std::size_t>(got);
    }
    part.text.resize(taken);
    return std::optional{std::move(part)};
}

} // namespace yk::work
