// SPDX-License-Identifier: Apache-2.0
#include "ykd/audit/audit_log.h"

#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "ykd/process/log.h"

namespace yk::service {
namespace {

constexpr std::size_t kRefusals = 10; // of one `who`, within a minute
constexpr mode_t kMode = 0600;
constexpr const char* kDegraded = "audit";

/// Without a buffer, so that a full disk is noticed by the record that it takes no more.
void prepare(const spdlog::filename_t&, std::FILE* file) {
    std::setvbuf(file, nullptr, _IONBF, 0);
    ::fchmod(::fileno(file), kMode);
}

/// The name of the file that was written before: `audit.1.jsonl` for `audit.jsonl`.
std::string name_before(const std::string& file) {
    return spdlog::sinks::rotating_file_sink_mt::calc_filename(file, 1);
}

void say_degraded(Degraded& degraded, const std::string& sentence) {
    if (degraded.set(kDegraded, sentence)) log("core.security").error("{}", sentence);
}

/// Number of a record; 0: the line is no record.
std::uint64_t number_of(const std::string& line) {
    const auto record = wire::Value::parse(line, nullptr, false);
    const auto number = record.is_object() ? record.find("n") : record.end();
    return number != record.end() && number->is_number_unsigned() ? number->get<std::uint64_t>() : 0;
}

/// The file, and whether it takes what it gets. Owner: the writer. Thread: that of the writer.
class AuditFile final : public spdlog::sinks::sink {
public:
    AuditFile(const AuditSettings& settings, std::string file, Degraded& degraded)
        : file_(std::move(file)), degraded_(degraded) {
        spdlog::file_event_handlers handlers;
        handlers.after_open = prepare;
        files_ = std::make_unique<spdlog::sinks::rotating_file_sink_st>(file_, settings.max_bytes, settings.files - 1,
                                                                        false, handlers);
        files_->set_formatter(std::make_unique<spdlog::pattern_formatter>("%v"));
    }

    void log(const spdlog::details::log_msg& message) override {
        try {
            files_->log(message);
            if (degraded_.clear(kDegraded))
                service::log("core.security").info("the audit log {} can be written again", file_);
        } catch (const spdlog::spdlog_ex& fault) {
            say_degraded(degraded_,
                         fmt::format("the audit log {} cannot be written ({}): records are kept in memory alone", file_,
                                     fault.what()));
        }
    }
    void flush() override {} // nothing is buffered
    void set_pattern(const std::string&) override {}
    void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

private:
    const std::string file_;
    Degraded& degraded_;
    std::unique_ptr<spdlog::sinks::rotating_file_sink_st> files_;
};

} // namespace

AuditLog::AuditLog(const AuditSettings& settings, std::string file, Degraded& degraded)
    : settings_(settings), file_(std::move(file)), degraded_(degraded) {}

/// Takes the end of a file.
void AuditLog::read_back(const std::string& file) {
    constexpr std::streamoff kMost = 8 << 20;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) return;
    std::ifstream lines(file, std::ios::binary | std::ios::ate);
    const std::streamoff size = lines.tellg();
    lines.seekg(std::max<std::streamoff>(size - kMost, 0));
    for (std::string line; std::getline(lines, line);) {
        const auto number = number_of(line);
        if (number < next_) continue; // begun before, cut short by a full disk, or not ours
        if (number != next_) lines_.clear();
        lines_.push_back(std::move(line));
        next_ = number + 1;
        if (lines_.size() > kKept) lines_.pop_front();
    }
}

void AuditLog::open() {
    constexpr std::size_t kQueued = 8192;
    if (std::exchange(is_open_, true) || file_.empty()) return;
    for (const std::string& file : {name_before(file_), file_}) read_back(file);
    try {
        auto target = std::make_shared<AuditFile>(settings_, file_, degraded_);
        thread_ = std::make_shared<spdlog::details::thread_pool>(kQueued, 1);
        writer_ = std::make_shared<spdlog::async_logger>("audit", std::move(target), thread_,
                                                         spdlog::async_overflow_policy::overrun_oldest);
    } catch (const spdlog::spdlog_ex& fault) {
        say_degraded(degraded_,
                     fmt::format("the audit log {} cannot be opened ({}): records are kept in memory alone, until "
                                 "a restart",
                                 file_, fault.what()));
    }
}

void AuditLog::add(wire::Value record, Instant at) {
    const std::lock_guard lock(mutex_);
    open();
    const auto refused = record.find("outcome");
    if (refused != record.end() && *refused != "ok" && refusals_.note(record.value("who", "")) > kRefusals) return;
    wire::Value numbered{{"n", next_}, {"at", at.ns}};
    numbered.update(record);
    std::string line = numbered.dump(-1, ' ', false, wire::Value::error_handler_t::replace);
    ++next_;
    if (writer_) writer_->log(spdlog::level::info, spdlog::string_view_t{line});
    lines_.push_back(std::move(line));
    if (lines_.size() > kKept) lines_.pop_front();
}

AuditLog::Page AuditLog::read(std::uint64_t from, std::size_t count) {
    const std::lock_guard lock(mutex_);
    open();
    const std::uint64_t first = next_ - lines_.size();
    Page page;
    const std::uint64_t begin = std::clamp(from, first, next_);
    const std::uint64_t end = std::min<std::uint64_t>(next_, begin + count);
    for (std::uint64_t n = begin; n < end; ++n)
        page.records.push_back(wire::Value::parse(lines_[static_cast<std::size_t>(n - first)], nullptr, false));
    page.next = end;
    page.lost = from != 0 && from < first ? first - from : 0;
    return page;
}

std::uint64_t AuditLog::first_of_last(std::size_t count) {
    const std::lock_guard lock(mutex_);
    open();
    return next_ - std::min(count, lines_.size());
}

} // namespace yk::service
