// SPDX-License-Identifier: Apache-2.0
#include "ykd/process/log.h"

#include <fmt/format.h>
#include <spdlog/async.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "libcore/base/number.h"
#include "libcore/base/text.h"
#include "ykd/process/own_file.h"
#include "ykd/recording/files.h"

namespace yk::service {
namespace {

using spdlog::level::level_enum;

constexpr std::size_t kQueued = 8192; // lines that may wait for the target; the oldest go when it is slow

/// The prefix `<priority>` by which the journal recognizes the level of a line (sd-daemon(3)).
class JournalLevel final : public spdlog::custom_flag_formatter {
public:
    void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
        constexpr std::array<char, 7> kPriority{'7', '7', '6', '4', '3', '2', '6'};
        const char prefix[] = {'<', kPriority[static_cast<std::size_t>(message.level)], '>'};
        out.append(prefix, prefix + sizeof prefix);
    }
    [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
        return std::make_unique<JournalLevel>();
    }
};

/// Replaces control characters in a line, which a terminal would obey: lines have names and texts of others in them.
class HarmlessFormatter final : public spdlog::formatter {
public:
    explicit HarmlessFormatter(std::unique_ptr<spdlog::formatter> form) : form_(std::move(form)) {}
    void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
        const std::string payload = printable({message.payload.data(), message.payload.size()});
        spdlog::details::log_msg harmless = message;
        harmless.payload = payload;
        form_->format(harmless, out);
    }
    [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override {
        return std::make_unique<HarmlessFormatter>(form_->clone());
    }

private:
    const std::unique_ptr<spdlog::formatter> form_;
};

/// Writes the lines to a file. Owner: Loggers. Thread: spdlog's, reopen() any.
class FileSink final : public spdlog::sinks::base_sink<std::mutex> {
public:
    FileSink(std::string path, int file) : path_(std::move(path)), file_(file) {}
    ~FileSink() override { ::close(file_); }
    FileSink(const FileSink&) = delete;
    FileSink& operator=(const FileSink&) = delete;

    static Result<int> open(const std::string& path) { return open_own_file(path, O_CREAT | O_APPEND, 0640); }
    Result<void> reopen() {
        YK_TRY(file, open(path_));
        const std::lock_guard lock(mutex_);
        ::close(std::exchange(file_, file));
        return {};
    }

protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        if (const int why = write_all(file_, {line.data(), line.size()}); why != 0)
            spdlog::throw_spdlog_ex("cannot write to " + path_,
                                    why); // spdlog reports it on stderr, at most once a second
    }
    void flush_() override {} // nothing is buffered

private:
    const std::string path_;
    int file_;
};

/// All loggers of the process.
struct Loggers {
    std::mutex mutex; // guards the rest
    spdlog::sink_ptr sink;
    std::shared_ptr<FileSink> file; // the same as `sink`, when that is a file; else nullptr
    std::map<std::string, std::shared_ptr<spdlog::async_logger>, std::less<>> by_name;
    std::map<std::string, level_enum> levels; // by the logger at the root of a subtree; empty name: of all loggers
};

Loggers& loggers() {
    static Loggers all;
    return all;
}

std::string lower_name(std::string_view text) {
    std::string lower(text);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

/// The level of the longest prefix of `name` that has one.
level_enum level_for(const Loggers& all, std::string_view name) {
    for (std::string_view prefix = name; !prefix.empty();) {
        if (const auto found = all.levels.find(std::string(prefix)); found != all.levels.end()) return found->second;
        const std::size_t dot = prefix.rfind('.');
        prefix = dot == std::string_view::npos ? std::string_view{} : prefix.substr(0, dot);
    }
    const auto base = all.levels.find("");
    return base == all.levels.end() ? level_enum::info : base->second;
}

std::unique_ptr<spdlog::formatter> harmless(const char* pattern) {
    return std::make_unique<HarmlessFormatter>(std::make_unique<spdlog::pattern_formatter>(pattern));
}

spdlog::sink_ptr stderr_sink(bool journal) {
    if (!journal) {
        auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
        sink->set_formatter(harmless("%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %n: %v"));
        return sink;
    }
    auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<JournalLevel>('*').set_pattern("%*%n: %v");
    sink->set_formatter(std::make_unique<HarmlessFormatter>(std::move(formatter)));
    return sink;
}

/// Whether stderr goes to the journal: $JOURNAL_STREAM is set, and stderr is not a terminal.
bool is_journal() {
    return std::getenv("JOURNAL_STREAM") != nullptr && ::isatty(STDERR_FILENO) == 0;
}

} // namespace

std::optional<level_enum> parse_level(std::string_view text) {
    static const std::map<std::string, level_enum, std::less<>> kNames{
        {"debug", level_enum::debug},   {"info", level_enum::info},       {"warn", level_enum::warn},
        {"error", level_enum::err},     {"dpanic", level_enum::critical}, {"panic", level_enum::critical},
        {"fatal", level_enum::critical}};
    if (const auto found = kNames.find(lower_name(text)); found != kNames.end()) return found->second;
    const auto number = to_number<int>(text);
    if (!number) return std::nullopt;
    if (*number < 0) return level_enum::debug;
    constexpr std::array<level_enum, 3> kNumbers{level_enum::info, level_enum::warn, level_enum::err};
    return *number < 3 ? kNumbers[static_cast<std::size_t>(*number)] : level_enum::critical;
}

std::optional<std::string> logger_of(std::string_view key) {
    constexpr std::string_view kHead = "log.", kTail = ".level";
    if (key.size() <= kHead.size() + kTail.size() || key.substr(0, kHead.size()) != kHead ||
        key.substr(key.size() - kTail.size()) != kTail)
        return std::nullopt;
    const std::string_view name = key.substr(kHead.size(), key.size() - kHead.size() - kTail.size());
    const bool bad = name.find("..") != std::string_view::npos || name.find(' ') != std::string_view::npos;
    return bad ? std::nullopt : std::optional<std::string>(name);
}

Result<void> start_log(const std::string& target) {
    Loggers& all = loggers();
    const std::lock_guard lock(all.mutex);
    try {
        spdlog::init_thread_pool(kQueued, 1);
        if (target == "auto" || target == "stderr" || target == "journal") {
            all.sink = stderr_sink(target == "journal" || (target == "auto" && is_journal()));
        } else {
            const auto file = FileSink::open(target);
            if (!file.ok()) return Error::of(fmt::format("cannot log to {}: {}", target, file.error().message));
            all.file = std::make_shared<FileSink>(target, *file);
            all.file->set_formatter(harmless("%Y-%m-%dT%H:%M:%S.%e%z %l %n: %v"));
            all.sink = all.file;
        }
    } catch (const spdlog::spdlog_ex& fault) {
        return Error::of(fmt::format("cannot log to {}: {}", target, fault.what()));
    }
    return {};
}

void reopen_log() {
    std::shared_ptr<FileSink> file;
    {
        const std::lock_guard lock(loggers().mutex);
        file = loggers().file;
    }
    if (!file) return;
    if (const auto opened = file->reopen(); !opened.ok())
        log("core").error("the log file is not opened anew: {}", opened.error().message);
}

void warn_of_each(std::string_view logger, std::string_view subject, const std::vector<std::string>& lines) {
    constexpr std::size_t kMost = 10, kLongest = 400;
    for (std::size_t i = 0; i < std::min(lines.size(), kMost); ++i)
        log(logger).warn("{}: {}", subject, shortened(lines[i], kLongest));
    if (lines.size() > kMost) log(logger).warn("{}: and {} more", subject, lines.size() - kMost);
}

void end_log() {
    spdlog::shutdown();
}

spdlog::logger& log(std::string_view name) {
    Loggers& all = loggers();
    const std::lock_guard lock(all.mutex);
    if (const auto found = all.by_name.find(name); found != all.by_name.end()) return *found->second;
    if (!all.sink) { // in a program that never called start_log(), such as the unit tests
        spdlog::init_thread_pool(kQueued, 1);
        all.sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
        all.levels.emplace("", level_enum::off);
    }
    auto logger = std::make_shared<spdlog::async_logger>(std::string(name), all.sink, spdlog::thread_pool(),
                                                         spdlog::async_overflow_policy::overrun_oldest);
    logger->set_level(level_for(all, name));
    logger->flush_on(level_enum::debug); // somebody may be following the file
    return *all.by_name.emplace(std::string(name), std::move(logger)).first->second;
}

std::string log_level(std::string_view logger) {
    Loggers& all = loggers();
    const std::lock_guard lock(all.mutex);
    const auto level = spdlog::level::to_string_view(level_for(all, logger));
    return {level.data(), level.size()};
}

std::string log_level_of(std::string_view logger) {
    Loggers& all = loggers();
    const std::lock_guard lock(all.mutex);
    switch (level_for(all, logger)) {
    case level_enum::trace:
    case level_enum::debug: return "debug";
    case level_enum::info: return "info";
    case level_enum::warn: return "warn";
    case level_enum::err: return "error";
    default: return "fatal";
    }
}

void set_log_levels(const std::map<std::string, std::string>& settings, std::string_view base) {
    std::map<std::string, level_enum> levels;
    levels[""] = parse_level(base).value_or(level_enum::info);
    for (const auto& [key, text] : settings) {
        const auto level = parse_level(text);
        if (!level) continue;
        if (key == "log.level") {
            levels[""] = *level;
        } else if (const auto logger = logger_of(key)) {
            levels[*logger] = *level;
        }
    }
    Loggers& all = loggers();
    const std::lock_guard lock(all.mutex);
    all.levels = std::move(levels);
    for (auto& [name, logger] : all.by_name) logger->set_level(level_for(all, name));
}

} // namespace yk::service
