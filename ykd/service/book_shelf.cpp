// SPDX-License-Identifier: Apache-2.0
#include "ykd/service/book_shelf.h"

#include <fmt/format.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <utility>

#include "protocol/simulation/simulator.h"
#include "protocol/wire/codec.h"
#include "ykd/owner/owner_books.h"
#include "ykd/process/log.h"
#include "ykd/process/state_files.h"
#include "ykd/recording/files.h"
#include "ykd/runtime/clock.h"

namespace yk::service {
namespace {

using books::BookFile;

constexpr std::string_view kEnding = ".books";
constexpr int kUnreadable = 1;                      // code of an Error
constexpr auto kPatience = std::chrono::seconds{5}; // with another process that uses the state directory
constexpr auto kBetweenTries = std::chrono::milliseconds{20};
/// What SQLite puts beside the file while it is open, or leaves there when the process is killed.
constexpr std::array<std::string_view, 2> kBeside{"-wal", "-shm"};

Error system_error(const std::string& what) {
    return Error::of(what + ": " + std::strerror(errno));
}

/// Has the disk know that there is no such file any more. Why it does not, and what follows from that; empty: it does.
std::string fault_of_folder(const std::string& path) {
    const int fault = sync_folder(path.substr(0, path.rfind('/')));
    if (fault == 0) return {};
    return fmt::format("the folder of {} cannot be synced: {}; the RM would be back after a loss of power", path,
                       std::strerror(fault));
}

/// The books first: without what is beside them they would be older ones. Why they are not removed for good; empty:
/// they are.
std::string remove_file(const std::string& path) {
    const bool removed = may(FileStep::Remove, path) && ::unlink(path.c_str()) == 0;
    if (!removed && errno != ENOENT)
        return fmt::format("{} cannot be removed: {}; the RM would be back after a restart", path,
                           std::strerror(errno));
    std::string fault = removed ? fault_of_folder(path) : std::string{};
    for (const std::string_view end : kBeside)
        if (const std::string other = path + std::string{end}; may(FileStep::Remove, other))
            static_cast<void>(::unlink(other.c_str()));
    return fault;
}

/// Adds `what` and the time to the name of a file, and of what is beside it; returns the new name. An error is an
/// errno.
Result<std::string, int> rename_file(const std::string& path, std::string_view what) {
    std::string other = fmt::format("{}.{}-{}", path, what, utc_stamp(real_now()));
    const auto rename = [](const std::string& from, const std::string& to) {
        return may(FileStep::Rename, from, to) && std::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
    };
    const int fault = rename(path, other);
    for (const std::string_view end : kBeside)
        static_cast<void>(rename(path + std::string{end}, other + std::string{end}));
    if (fault != 0) return int{fault};
    return other;
}

/// Locks the file for this process. One that was killed has it until the system has taken back its memory, so it waits
/// a while. An errno, or 0.
int lock(int file) {
    int fault = 0;
    const auto is_decided = [&] {
        fault = ::flock(file, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
        return fault != EWOULDBLOCK;
    };
    if (!is_decided()) {
        log("core").warn("the state directory is used by another ykd; waiting for its end");
        wait_until(is_decided, SteadyClock::now() + kPatience, kBetweenTries);
    }
    return fault;
}

} // namespace

BookShelf::~BookShelf() {
    if (lock_ >= 0) ::close(lock_);
}

Result<void> BookShelf::open() {
    YK_CHECKED(make_own_folder(folder(), "the books"));
    const std::string path = directory_ + "/lock";
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return system_error(path);
    if (const int fault = lock(file); fault != 0) {
        ::close(file);
        if (fault == EWOULDBLOCK)
            return Error::of("the state directory " + directory_ +
                             " is used by another ykd; stop it, or choose another");
        return Error::of(path + ": " + std::strerror(fault));
    }
    lock_ = file;
    return {};
}

std::string BookShelf::path_of(const std::string& rm_id) const {
    return fmt::format("{}/{}{}", folder(), file_name_of(rm_id), kEnding);
}

// --- what is there --------------------------------------------------------------------------------------------------

std::vector<FoundBooks> BookShelf::find() {
    std::vector<std::string> paths;
    if (DIR* open = ::opendir(folder().c_str())) {
        while (const dirent* entry = ::readdir(open))
            if (std::string_view{entry->d_name}.ends_with(kEnding)) paths.push_back(folder() + "/" + entry->d_name);
        ::closedir(open);
    }
    std::sort(paths.begin(), paths.end());
    std::vector<FoundBooks> found;
    for (const std::string& path : paths) {
        auto file = BookFile::open(path);
        if (!file.ok()) {
            refuse(path, file.error());
            continue;
        }
        auto contents = read(std::move(file).value());
        if (!contents.ok() && contents.error().code == kUnreadable) {
            refuse(path, {BookFile::Fault::System, contents.error().message});
        } else if (!contents.ok()) {
            set_aside(path, path + ": " + contents.error().message);
        } else if (contents->registration.rm_id.empty()) {
            contents->file.reset();
            static_cast<void>(remove_file(path)); // the next start finds it again
        } else if (const std::string own = path_of(contents->registration.rm_id); own != path) {
            refuse(path, {BookFile::Fault::System, fmt::format("{}: they are of RM {}, whose books are {}", path,
                                                               contents->registration.rm_id, own)});
        } else {
            contents->path = path;
            found.push_back(std::move(contents).value());
        }
    }
    return found;
}

/// An error with kUnreadable: the disk does not let something be read, which is no damage.
Result<FoundBooks> BookShelf::read(std::unique_ptr<BookFile> file) const {
    FoundBooks found;
    const auto registration = file->get(OwnerBooks::kRegistration), from_file = file->get(OwnerBooks::kFromFile),
               partitions = file->get(OwnerBooks::kPartitions);
    auto configurations = file->configurations();
    for (const auto* each : {&registration, &from_file, &partitions})
        if (!each->ok()) return Error::coded(kUnreadable, each->error().message);
    if (!configurations.ok()) return Error::coded(kUnreadable, configurations.error().message);
    found.file = std::move(file);
    if (!*registration && configurations->empty()) return found; // the daemon ended before it answered the registration
    if (!*registration || configurations->empty()) return Error::of("the registration of the RM is missing");
    const auto scanned = wire::scan_body(**registration);
    auto request = scanned.ok() ? wire::decode<si::RegisterResourceManagerRequest>(*scanned) : scanned.error();
    if (!request.ok()) return Error::of("the registration of the RM cannot be read: " + request.error().message);
    found.registration = std::move(request).value();
    std::istringstream lines{partitions->value_or("")};
    for (std::string name; std::getline(lines, name);) found.partitions.push_back(name);
    found.from_file = *from_file && !(*from_file)->empty();
    found.configurations = std::move(configurations).value();
    return found;
}

/// Books that cannot be opened: what is damaged or foreign is set aside, what may be readable later stays where it is.
void BookShelf::refuse(const std::string& path, const BookFile::Refusal& refusal) {
    if (refusal.fault == BookFile::Fault::Damaged || refusal.fault == BookFile::Fault::Foreign)
        return set_aside(path, refusal.message);
    const bool of_another = refusal.fault == BookFile::Fault::Version;
    of_another ? static_cast<void>(of_another_version_.insert(path)) : leave_path(path);
    const std::string sentence =
        fmt::format("books cannot be read, their RM is not restored: {}; {}", refusal.message,
                    of_another ? "start the ykd that wrote them, or move the file away" : "mend that and restart");
    log("recovery").error("{}", sentence);
    degraded_.set("books " + path, sentence);
}

void BookShelf::leave_path(const std::string& path) {
    const std::lock_guard lock(mutex_);
    left_.insert(path);
}

bool BookShelf::take_left(const std::string& path) {
    const std::lock_guard lock(mutex_);
    return left_.erase(path) != 0;
}

void BookShelf::set_aside(const std::string& path, const std::string& why) {
    const auto other = rename_file(path, "damaged");
    const std::string sentence =
        fmt::format("books cannot be used, their RM is not restored: {}; {}", why,
                    other.ok() ? "the file is now " + *other
                               : "and it cannot be renamed: " + std::string{std::strerror(other.error())});
    log("recovery").error("{}", sentence);
    degraded_.set("books " + path, sentence);
}

// --- keeping --------------------------------------------------------------------------------------------------------

Result<std::shared_ptr<books::BookKeeper>> BookShelf::start(std::unique_ptr<BookFile> file, const std::string& rm_id) {
    const auto on_fault = [&degraded = degraded_, rm_id](const std::string& fault) {
        const std::string key = "books of " + rm_id;
        if (fault.empty()) {
            degraded.clear(key);
            return log("recovery").info("the books of RM {} are written again, nothing is missing", rm_id);
        }
        const std::string sentence = fmt::format(
            "the books of RM {} cannot be written since {}: {}; what happens now would be lost with the daemon", rm_id,
            utc_stamp(real_now()), fault);
        if (degraded.set(key, sentence)) log("recovery").error("{}", sentence);
    };
    YK_TRY(keeper, books::BookKeeper::start(std::move(file), on_fault));
    return std::shared_ptr<books::BookKeeper>{std::move(keeper)};
}

Result<std::shared_ptr<books::BookKeeper>> BookShelf::go_on(FoundBooks& found) {
    return start(std::move(found.file), found.registration.rm_id);
}

Result<std::shared_ptr<books::BookKeeper>> BookShelf::begin(const std::string& rm_id) {
    const std::string path = path_of(rm_id);
    if (of_another_version_.count(path) == 0 && ::access(path.c_str(), F_OK) == 0)
        return Error::of("the former books of the RM are still there: " + path);
    auto file = BookFile::open(path);
    if (!file.ok()) return Error::of(file.error().message);
    return start(std::move(file).value(), rm_id);
}

void BookShelf::remove(const std::string& rm_id) {
    const std::string path = path_of(rm_id);
    if (!is_open() || of_another_version_.count(path) != 0) return;
    degraded_.clear("books of " + rm_id);
    const std::string key = "books removed " + rm_id;
    degraded_.clear(key);
    const std::string fault = take_left(path) ? retire_left(path, rm_id) : remove_file(path);
    if (fault.empty()) return;
    const std::string sentence = fmt::format("the books of RM {}, which are not kept any more: {}", rm_id, fault);
    log("recovery").error("{}", sentence);
    degraded_.set(key, sentence);
}

/// Renames books that were not restored. Why that is not for good; empty: it is.
std::string BookShelf::retire_left(const std::string& path, const std::string& rm_id) {
    const auto other = rename_file(path, "unused");
    if (!other.ok()) {
        leave_path(path);
        return fmt::format("{} cannot be renamed: {}; the RM would be back after a restart", path,
                           std::strerror(other.error()));
    }
    degraded_.clear("books " + path);
    log("recovery")
        .warn("the books of RM {}, which were not restored, are not used any more: they are now {}", rm_id, *other);
    return fault_of_folder(path);
}

} // namespace yk::service
