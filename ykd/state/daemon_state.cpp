// SPDX-License-Identifier: Apache-2.0
#include "ykd/state/daemon_state.h"

#include <fmt/format.h>
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <future>
#include <memory>
#include <utility>

#include "protocol/wire/value.h"
#include "ykd/process/log.h"
#include "ykd/process/state_files.h"
#include "ykd/recording/files.h"
#include "ykd/runtime/clock.h"

namespace yk::service {
namespace {

using wire::Value;

constexpr std::string_view kDaemon = "daemon", kConfigurations = "configurations"; // what a file is
constexpr std::string_view kEnding = ".config";
constexpr std::size_t kMostFiles = 256; // of RMs; the oldest go

/// The members of a text. Nothing: it is no such text, although its checksum is right.
std::optional<Value> object_of(const std::string& text) {
    Value value = Value::parse(text, nullptr, false);
    if (!value.is_object()) return std::nullopt;
    return value;
}

std::string text_in(const Value& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

std::int64_t number_in(const Value& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string json(const Value& value) {
    return value.dump(-1, ' ', false, Value::error_handler_t::replace);
}

std::optional<KeptConfigurations> configurations_in(const std::string& text) {
    const auto object = object_of(text);
    if (!object) return std::nullopt;
    KeptConfigurations kept;
    kept.policy_group = text_in(*object, "policyGroup");
    kept.from_file = number_in(*object, "fromFile") != 0;
    const auto list = object->find("configurations");
    if (list == object->end() || !list->is_array() || list->empty()) return std::nullopt;
    for (const Value& one : *list) {
        if (!one.is_object()) return std::nullopt;
        kept.list.push_back(
            {number_in(one, "at"), text_in(one, "checksum"), text_in(one, "origin"), text_in(one, "text")});
    }
    return kept;
}

std::string text_of(const std::string& rm_id, const KeptConfigurations& configurations) {
    Value list = Value::array();
    for (const books::KeptConfiguration& one : configurations.list)
        list.push_back({{"at", one.at}, {"checksum", one.checksum}, {"origin", one.origin}, {"text", one.text}});
    return json({{"rmID", rm_id},
                 {"policyGroup", configurations.policy_group},
                 {"fromFile", configurations.from_file ? 1 : 0},
                 {"configurations", std::move(list)}});
}

} // namespace

DaemonState::DaemonState(std::string directory, Degraded& degraded)
    : directory_(std::move(directory)),
      degraded_(degraded),
      files_([this](const std::string& path, const std::string& fault) {
          const std::string key = "state " + path;
          if (fault.empty()) {
              if (degraded_.clear(key)) log("core").info("{} is written again, nothing is missing", path);
              return;
          }
          const std::string sentence = fmt::format("since {} {}", utc_stamp(real_now()), fault);
          if (degraded_.set(key, sentence)) log("core").error("{}", sentence);
      }) {}

std::string DaemonState::path_of(const std::string& rm_id) const {
    return fmt::format("{}/{}{}", folder(), file_name_of(rm_id), kEnding);
}

bool DaemonState::may_write(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    return open_ && foreign_.count(path) == 0;
}

// --- what there is --------------------------------------------------------------------------------------------------

Result<void> DaemonState::open() {
    if (directory_.empty() || open_) return {};
    YK_CHECKED(make_own_folder(folder(), "what is kept"));
    open_ = true;
    files_.start();
    read_daemon_file();
    look_at_configurations();
    const auto written = std::make_shared<std::promise<void>>();
    std::future<void> end = written->get_future();
    put_daemon_file();
    files_.when_written([written] { written->set_value(); });
    get(end);
    return {};
}

void DaemonState::set_aside(const std::string& path, const std::string& why) {
    const std::string other = path + ".damaged-" + utc_stamp(real_now());
    const bool renamed = std::rename(path.c_str(), other.c_str()) == 0;
    const std::string sentence =
        fmt::format("{}, and is not used; {}", why,
                    renamed ? "it is now " + other : "it cannot be renamed: " + std::string{std::strerror(errno)});
    log("core").error("{}", sentence);
    degraded_.set("kept " + path, sentence);
}

/// The text of a file that can be used.
std::optional<std::string> DaemonState::read(const std::string& path, std::string_view what) {
    auto text = files_.read(path, what);
    if (text.ok()) return *text;
    if (text.error().kind == KeptFault::Kind::Damaged) {
        set_aside(path, text.error().message);
        return std::nullopt;
    }
    const std::string sentence = text.error().message + "; it is left as it is, and nothing of it is used or kept";
    if (degraded_.set("kept " + path, sentence)) log("core").error("{}", sentence);
    const std::lock_guard lock(mutex_);
    foreign_.insert(path);
    return std::nullopt;
}

void DaemonState::read_daemon_file() {
    const auto text = read(daemon_file(), kDaemon);
    const auto object = text ? object_of(*text) : std::nullopt;
    if (text && !object) set_aside(daemon_file(), daemon_file() + " is damaged: its text cannot be read");
    if (!may_write(daemon_file())) return; // starts are not counted
    boots_ = static_cast<std::uint64_t>(object ? number_in(*object, "boots") : 0) + 1;
    if (!object) return;
    const auto levels = object->find("levels");
    if (levels == object->end() || !levels->is_object()) return;
    for (const auto& [key, level] : levels->items())
        if (level.is_string()) levels_[key] = level.get<std::string>();
}

/// Reads each file once, so that a damaged one is known at the start, and removes the oldest of too many.
void DaemonState::look_at_configurations() {
    std::vector<std::pair<std::int64_t, std::string>> found; // by age
    if (DIR* open = ::opendir(folder().c_str())) {
        while (const dirent* entry = ::readdir(open)) {
            const std::string path = folder() + "/" + entry->d_name;
            struct stat info {};
            if (path.ends_with(kEnding) && ::lstat(path.c_str(), &info) == 0)
                found.emplace_back(info.st_mtim.tv_sec, path);
        }
        ::closedir(open);
    }
    std::sort(found.begin(), found.end());
    const std::size_t too_many = found.size() - std::min(found.size(), kMostFiles);
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::string& path = found[i].second;
        if (i < too_many)
            files_.remove(path);
        else if (const auto text = read(path, kConfigurations); text && !configurations_in(*text))
            set_aside(path, path + " is damaged: its text cannot be read");
    }
}

// --- levels of loggers ----------------------------------------------------------------------------------------------

DaemonState::Levels DaemonState::levels() const {
    const std::lock_guard lock(mutex_);
    return levels_;
}

std::string DaemonState::daemon_text() const {
    Value levels = Value::object();
    for (const auto& [key, level] : this->levels()) levels[key] = level;
    return json({{"boots", boots_}, {"levels", std::move(levels)}});
}

/// The text is made when it is written, so that of two calls none puts down what was before the other.
void DaemonState::put_daemon_file() {
    if (may_write(daemon_file())) files_.put(daemon_file(), kDaemon, [this] { return daemon_text(); });
}

void DaemonState::keep_levels(const std::function<Levels()>& levels, std::function<void(bool)> done) {
    {
        const std::lock_guard lock(mutex_);
        levels_ = levels(); // under the lock: those of another call are earlier, or have these, too
    }
    if (!may_write(daemon_file())) return done(false);
    put_daemon_file();
    files_.when_kept(daemon_file(), std::move(done));
}

// --- configurations -------------------------------------------------------------------------------------------------

std::optional<KeptConfigurations> DaemonState::configurations(const std::string& rm_id) {
    if (!open_) return std::nullopt;
    const std::string path = path_of(rm_id);
    const auto text = read(path, kConfigurations);
    if (!text) return std::nullopt;
    auto kept = configurations_in(*text);
    if (!kept) set_aside(path, path + " is damaged: its text cannot be read");
    return kept;
}

void DaemonState::keep_configurations(const std::string& rm_id, std::function<KeptConfigurations()> make) {
    const std::string path = path_of(rm_id);
    if (!may_write(path)) return;
    files_.put(path, kConfigurations, [rm_id, make = std::move(make)] { return text_of(rm_id, make()); });
}

void DaemonState::forget_configurations(const std::string& rm_id) {
    if (const std::string path = path_of(rm_id); may_write(path)) files_.remove(path);
}

} // namespace yk::service
