// SPDX-License-Identifier: Apache-2.0
#include "ykd/state/kept_files.h"

#include <fmt/format.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <utility>

#include "libcore/digest/recovery_digest.h"
#include "protocol/simulation/simulator.h"
#include "ykd/process/state_files.h"

namespace yk::service {
namespace {

constexpr std::string_view kForm = "ykd-kept";
constexpr unsigned kVersion = 1;
constexpr std::size_t kLongestHead = 200;
constexpr std::size_t kLargest = std::size_t{256} << 20U; // bytes of a file
constexpr auto kAgain = std::chrono::seconds{1};          // after a file could not be written

/// The first line of a file, but for its checksum.
std::string head_of(std::string_view what, std::size_t length, unsigned version) {
    return fmt::format("{} {} {} {} ", kForm, version, what, length);
}

std::uint64_t checksum_of(std::string_view head, std::string_view text) {
    std::string all;
    all.reserve(head.size() + text.size());
    all.append(head).append(text);
    return recovery::line_hash(all);
}

/// The whole file; nothing: there is none. An error is an errno.
Result<std::optional<std::string>, int> bytes_of(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0 && errno == ENOENT) return std::optional<std::string>{};
    if (file >= 0 && !may(FileStep::Read, path)) {
        const int why = errno;
        ::close(file);
        return int{why};
    }
    if (file < 0) return int{errno};
    std::string bytes;
    std::array<char, 65536> chunk{};
    ssize_t size = 0;
    while ((size = ::read(file, chunk.data(), chunk.size())) > 0 && bytes.size() <= kLargest)
        bytes.append(chunk.data(), static_cast<std::size_t>(size));
    const int why = size < 0 ? errno : 0;
    ::close(file);
    if (why != 0) return int{why};
    return std::optional<std::string>{std::move(bytes)};
}

/// What stands in a file: its version and its text; nothing: it is damaged.
struct Contents {
    unsigned version = 0;
    std::string text;
};
std::optional<Contents> contents_of(const std::string& bytes, std::string_view what) {
    const std::size_t end = bytes.find('\n');
    if (end > kLongestHead) return std::nullopt; // or there is no line
    const std::string_view line{bytes.data(), end}, text{bytes.data() + end + 1, bytes.size() - end - 1};
    const std::size_t blank = line.rfind(' ');
    if (blank == std::string_view::npos) return std::nullopt;
    const std::string_view head = line.substr(0, blank + 1), sum = line.substr(blank + 1);
    std::uint64_t checksum = 0;
    const auto read = std::from_chars(sum.data(), sum.data() + sum.size(), checksum, 16);
    if (sum.size() != 16 || read.ec != std::errc{} || read.ptr != sum.data() + sum.size()) return std::nullopt;
    if (checksum != checksum_of(head, text)) return std::nullopt;
    if (!head.starts_with(kForm) || head.size() <= kForm.size() + 1) return std::nullopt;
    Contents contents;
    const char* const begin = head.data() + kForm.size() + 1;
    if (std::from_chars(begin, head.data() + head.size(), contents.version).ec != std::errc{}) return std::nullopt;
    if (contents.version == kVersion && head != head_of(what, text.size(), kVersion)) return std::nullopt;
    contents.text = text;
    return contents;
}

} // namespace

std::string kept_form_of(std::string_view what, std::string_view text, unsigned version) {
    const std::string head = head_of(what, text.size(), version);
    return fmt::format("{}{:016x}\n{}", head, checksum_of(head, text), text);
}

Result<std::optional<std::string>, KeptFault> read_kept_file(const std::string& path, std::string_view what) {
    auto bytes = bytes_of(path);
    if (!bytes.ok())
        return KeptFault{KeptFault::Kind::Unreadable,
                         fmt::format("{} cannot be read: {}", path, std::strerror(bytes.error()))};
    if (!*bytes) return std::optional<std::string>{};
    auto contents = contents_of(**bytes, what);
    if (!contents)
        return KeptFault{KeptFault::Kind::Damaged, fmt::format("{} is damaged: its checksum is wrong", path)};
    if (contents->version != kVersion)
        return KeptFault{KeptFault::Kind::Newer,
                         fmt::format("{} was written by another ykd, in version {}; this one knows version {}", path,
                                     contents->version, kVersion)};
    return std::optional<std::string>{std::move(contents->text)};
}

Result<void> write_kept_file(const std::string& path, std::string_view what, std::string_view text) {
    const std::size_t slash = path.rfind('/');
    StateFile file(path.substr(0, slash), path.substr(slash + 1));
    file.write(kept_form_of(what, text));
    const auto written = file.finish();
    if (!written.ok()) return written.error();
    return {};
}

// --- the thread -----------------------------------------------------------------------------------------------------

void KeptFiles::start() {
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(runs_, true)) return;
    }
    thread_.start(
        "kept files", [this] { run(); }, [this] { return step(); });
}

void KeptFiles::put(const std::string& path, std::string_view what, MakeText make) {
    const std::lock_guard lock(mutex_);
    waiting_[path] = {std::string{what}, std::move(make)};
    failed_.erase(path);
    wake_.notify_all();
}

void KeptFiles::remove(const std::string& path) {
    const std::lock_guard lock(mutex_);
    waiting_[path] = {};
    failed_.erase(path);
    wake_.notify_all();
}

Result<std::optional<std::string>, KeptFault> KeptFiles::read(const std::string& path, std::string_view what) const {
    std::optional<MakeText> put;
    {
        const std::lock_guard lock(mutex_);
        for (const Changes* changes : {&waiting_, &under_way_, &failed_})
            if (const auto found = changes->find(path); found != changes->end() && !put) put = found->second.make;
    }
    if (!put) return read_kept_file(path, what);
    return *put ? std::optional<std::string>{(*put)()} : std::nullopt;
}

void KeptFiles::when_kept(const std::string& path, std::function<void(bool)> call) {
    bool kept = false;
    {
        const std::lock_guard lock(mutex_);
        if (runs_ && (!waiting_.empty() || !under_way_.empty())) return waiters_.push_back({path, std::move(call)});
        kept = waiting_.count(path) == 0 && failed_.count(path) == 0;
    }
    call(kept);
}

/// Why the change was not carried out, or not for good, and what a restart would find; empty: it was.
std::string KeptFiles::carry_out(const std::string& path, const Change& change) {
    if (change.make) {
        const auto written = write_kept_file(path, change.what, change.make());
        if (written.ok()) return {};
        if (written.error().code == StateFile::kMayBeUndone) return written.error().message;
        return written.error().message + "; a restart would go on with what was kept before";
    }
    if ((!may(FileStep::Remove, path) || ::unlink(path.c_str()) != 0) && errno != ENOENT)
        return fmt::format("cannot remove {}: {}; a restart would go on with it", path, std::strerror(errno));
    const int fault = sync_folder(path.substr(0, path.rfind('/'))); // also of what an earlier try removed
    if (fault == 0) return {};
    return fmt::format("{} is removed, but a loss of power may bring it back: its folder cannot be synced: {}", path,
                       std::strerror(fault));
}

/// Carries out the changes and returns those that failed.
KeptFiles::Changes KeptFiles::write(const Changes& changes) const {
    Changes failed;
    for (const auto& [path, change] : changes) {
        const std::string fault = carry_out(path, change);
        on_fault_(path, fault);
        if (!fault.empty()) failed.emplace(path, change);
    }
    return failed;
}

void KeptFiles::run() {
    std::unique_lock lock(mutex_);
    for (bool is_last = false; !is_last;) {
        wake_.wait_for(lock, kAgain, [this] { return stopping_ || has_work(); });
        is_last = stopping_;
        write_what_waits(lock);
        is_last = is_last && waiting_.empty();
    }
    end(lock);
}

/// Writes what was put, and once more what failed.
void KeptFiles::write_what_waits(std::unique_lock<std::mutex>& lock) {
    under_way_ = std::exchange(waiting_, {});
    for (auto& [path, change] : std::exchange(failed_, {})) under_way_.try_emplace(path, std::move(change));
    const auto waiters = std::exchange(waiters_, {});
    lock.unlock();
    Changes failed = write(under_way_); // nobody else changes it
    for (const Waiter& each : waiters) each.call(failed.count(each.path) == 0);
    lock.lock();
    under_way_.clear();
    for (auto& [path, change] : failed)
        if (waiting_.count(path) == 0) failed_.emplace(path, std::move(change));
}

void KeptFiles::end(std::unique_lock<std::mutex>& lock) {
    const auto late = std::exchange(waiters_, {});
    const Changes failed = failed_;
    runs_ = false;
    lock.unlock();
    for (const Waiter& each : late) each.call(failed.count(each.path) == 0);
}

/// In a simulation: as a turn of run().
std::optional<Simulator::Clock::time_point> KeptFiles::step() {
    std::unique_lock lock(mutex_);
    if (!has_work()) {
        if (failed_.empty()) return Simulator::Clock::time_point::max();
        if (simulator()->now() < again_) return again_;
    }
    write_what_waits(lock);
    again_ = simulator()->now() + kAgain;
    return std::nullopt;
}

void KeptFiles::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        wake_.notify_all();
    }
    thread_.end();
    std::unique_lock lock(mutex_);
    if (!runs_ || simulator() == nullptr) return;
    write_what_waits(lock);
    end(lock);
}

} // namespace yk::service
