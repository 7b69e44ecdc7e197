// SPDX-License-Identifier: Apache-2.0
#include "ykd/recording/recording.h"

#include <fmt/format.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "protocol/wire/body_reader.h"
#include "ykd/recording/files.h"

namespace yk {
namespace {

constexpr std::uint64_t kMaxRecord = std::uint64_t{1} << 30U; // bytes
constexpr std::size_t kLengthBytes = 4;
constexpr int kMostAtOnce = 1000;          // recordings of one RM that begin at the same millisecond
constexpr std::size_t kMostLines = 10'000; // in one record

/// Calls f(name, member) for every setting; a new setting does not compile until it has a name here. `shortcuts` only
/// saves time and changes no decision, so it is not recorded.
template <class Of, class F>
void for_each_setting(Of& settings, F&& f) {
    auto& [reservation_delay, reservation_timeout, completing_timeout, terminated_timeout, expired_purge_interval,
           queue_clean_interval, inspection_interval, placeholder_timeout, preemption_throttle, preemption_unplaced,
           quota_interval, release_confirm, predicate_event_interval, quota_checks, reservations_disabled,
           inspect_outstanding, events_enabled, budget, shortcuts] = settings;
    static_cast<void>(shortcuts);
    f("reservationDelay", reservation_delay);
    f("reservationTimeout", reservation_timeout);
    f("completingTimeout", completing_timeout);
    f("terminatedTimeout", terminated_timeout);
    f("expiredPurgeInterval", expired_purge_interval);
    f("queueCleanInterval", queue_clean_interval);
    f("inspectionInterval", inspection_interval);
    f("placeholderTimeout", placeholder_timeout);
    f("preemptionThrottle", preemption_throttle);
    f("preemptionUnplaced", preemption_unplaced);
    f("quotaInterval", quota_interval);
    f("releaseConfirm", release_confirm);
    f("predicateEventInterval", predicate_event_interval);
    f("quotaChecks", quota_checks);
    f("reservationsDisabled", reservations_disabled);
    f("inspectOutstanding", inspect_outstanding);
    f("eventsEnabled", events_enabled);
    auto& [nodes, applications, asks, queues, names, ended, resource_types] = budget;
    f("maxNodes", nodes);
    f("maxApplications", applications);
    f("maxAsks", asks);
    f("maxQueues", queues);
    f("maxNames", names);
    f("maxEnded", ended);
    f("maxResourceTypes", resource_types);
}

std::string error_text(int number) {
    return std::strerror(number);
}

/// The file's name without its suffix. An rmID may hold any character; here those that not every tool takes become `_`.
std::string file_name_of(const RecordingHeader& header) {
    constexpr std::size_t kLongest = 100;
    std::string rm = header.rm_id.substr(0, kLongest);
    std::replace_if(
        rm.begin(), rm.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '_'; }, '_');
    return fmt::format("{}-{}-{}", utc_stamp(header.at), rm, header.epoch);
}

} // namespace

void pack_settings(wire::Packer& packer, const Settings& settings) {
    std::size_t count = 0;
    for_each_setting(settings, [&](const char*, const auto&) { ++count; });
    packer.map(count);
    for_each_setting(settings, [&](const char* name, const auto& value) {
        packer.text(name);
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, bool>)
            packer.boolean(value);
        else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::uint64_t>)
            packer.natural(value);
        else
            packer.integer(value.count());
    });
}

Result<Settings> read_recorded_settings(const wire::Value& map) {
    Settings settings;
    settings.budget = {0, 0, 0, 0, 0, settings.budget.ended, settings.budget.resource_types}; // as earlier versions
    wire::BodyReader reader(map);
    std::string missing;
    for_each_setting(settings, [&](const char* name, auto& value) {
        constexpr bool is_limit = std::is_same_v<std::decay_t<decltype(value)>, std::uint64_t>;
        if (!is_limit && !reader.has(name) && missing.empty()) missing = name;
        if constexpr (is_limit)
            value = reader.u64(name, value);
        else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, bool>)
            value = reader.flag(name);
        else
            value = Duration{reader.i64(name)};
    });
    if (!missing.empty()) return Error::of(fmt::format("setting {} is missing", missing));
    if (reader.fault()) return Error::at(reader.fault()->path, reader.fault()->message);
    return settings;
}

// --- writing ------------------------------------------------------------------------------------

Result<std::unique_ptr<RecordingWriter>> RecordingWriter::create(std::string path, const RecordingHeader& header,
                                                                 Report report) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    if (file < 0) {
        const int why = errno;
        return Error::coded(why, fmt::format("cannot make {}: {}", path, error_text(why)));
    }
    std::unique_ptr<RecordingWriter> writer{
        new RecordingWriter(file, std::move(path), header.rm_id, std::move(report))};
    writer->write(6, [&](wire::Packer& packer) {
        packer.key("recording");
        packer.natural(kRecordingForm);
        packer.field("ykd", header.ykd);
        packer.field("rmID", header.rm_id);
        packer.key("epoch");
        packer.natural(header.epoch);
        packer.key("at");
        packer.integer(header.at.ns);
        packer.key("settings");
        pack_settings(packer, header.settings);
    });
    writer->write_out();
    return writer;
}

RecordingWriter::~RecordingWriter() {
    flush();
    if (file_ >= 0) ::close(file_);
}

void RecordingWriter::pack_command(wire::Packer& packer, std::string_view what, Instant at) {
    packer.field("do", what);
    packer.key("at");
    packer.integer(at.ns);
}

void RecordingWriter::close_record(std::size_t begin) {
    const std::size_t length = buffer_.size() - begin - kLengthBytes;
    for (std::size_t i = 0; i < kLengthBytes; ++i)
        buffer_.patch(begin + i, static_cast<char>(length >> 8 * (kLengthBytes - 1 - i)));
}

void RecordingWriter::cycle(Instant at) {
    if (cycles_.count == 0 || cycles_.at != at || cycles_.count == kMostRecordedCycles) {
        settle();
        cycles_.at = at;
    }
    ++cycles_.count;
}

/// Packs the cycles that were counted and the lines that the core emitted, which belong together.
void RecordingWriter::settle() {
    if (cycles_.count != 0) {
        write(4, [this](wire::Packer& packer) {
            pack_command(packer, recorded::kCycles, cycles_.at);
            packer.key("count");
            packer.natural(cycles_.count);
            packer.key("allocations");
            packer.natural(cycles_.allocations);
        });
        cycles_ = {};
    }
    if (lines_.empty() && !refused_) return;
    for (std::size_t at = 0, end = 0;; at = end) {
        end = std::min(at + kMostLines, lines_.size());
        const bool last = end == lines_.size();
        write(last && !refused_ ? 1 : 2, [&](wire::Packer& packer) {
            packer.key("said");
            packer.list(end - at);
            for (std::size_t i = at; i < end; ++i) packer.text(lines_[i]);
            if (!last) {
                packer.key("more");
                packer.boolean(true);
            } else if (refused_) {
                packer.field("refused", *refused_);
            }
        });
        if (last) break;
    }
    lines_.clear();
    refused_.reset();
}

void RecordingWriter::flush() {
    settle();
    write_out();
}

void RecordingWriter::write_out() {
    const int why = file_ < 0 ? 0 : write_all(file_, buffer_.view());
    buffer_.clear();
    if (why == 0) return;
    ::close(file_);
    file_ = -1;
    report_(rm_id_, fmt::format("cannot write {}: {}; it ends here", path_, error_text(why)));
}

Result<std::unique_ptr<Recordings>> Recordings::open(std::string directory, std::string version,
                                                     RecordingWriter::Report report) {
    std::error_code fault;
    std::filesystem::create_directories(directory, fault);
    if (fault)
        return Error::of(fmt::format("the directory for recordings {} cannot be made: {}", directory, fault.message()));
    if (::access(directory.c_str(), W_OK | X_OK) != 0)
        return Error::of(
            fmt::format("the directory for recordings {} is not writable: {}", directory, error_text(errno)));
    return std::unique_ptr<Recordings>{new Recordings(std::move(directory), std::move(version), std::move(report))};
}

std::unique_ptr<RecordingWriter> Recordings::begin(RecordingHeader header) const {
    header.ykd = version_;
    report_(header.rm_id, {});
    const std::string name = directory_ + "/" + file_name_of(header);
    auto made = RecordingWriter::create(fmt::format("{}{}", name, kRecordingSuffix), header, report_);
    for (int i = 2; !made.ok() && made.error().code == EEXIST && i < kMostAtOnce; ++i) // made by another daemon
        made = RecordingWriter::create(fmt::format("{}-{}{}", name, i, kRecordingSuffix), header, report_);
    if (made.ok()) return std::move(made).value();
    report_(header.rm_id, made.error().message);
    return nullptr;
}

// --- reading ------------------------------------------------------------------------------------

Error RecordingReader::fault(const std::string& text) const {
    return Error::at(steps_ == 0 ? path_ : fmt::format("{}: command {}", path_, steps_), text);
}

Result<RecordingReader> RecordingReader::open(const std::string& path) {
    RecordingReader reader;
    reader.path_ = path;
    std::error_code failed;
    reader.left_ = std::filesystem::file_size(path, failed);
    if (!failed) reader.file_.open(path, std::ios::binary);
    if (failed || !reader.file_)
        return Error::at(path, fmt::format("cannot be read: {}", failed ? failed.message() : error_text(errno)));
    YK_CHECKED(reader.read_header());
    return reader;
}

Result<void> RecordingReader::read_header() {
    const Error foreign = fault("is no recording of ykd; ykd --record DIR makes them");
    auto read = read_record();
    if (!read.ok() || !read->has_value()) return foreign;
    const wire::Value& map = **read;
    wire::BodyReader reader(map);
    const std::uint64_t form = reader.u64("recording");
    if (form == 0) return foreign;
    header_.ykd = reader.text("ykd");
    if (form != kRecordingForm)
        return fault(fmt::format("is a recording of form {} by ykd {}; this ykctl plays form {}", form, header_.ykd,
                                 kRecordingForm));
    header_.rm_id = reader.text("rmID", wire::Presence::Required);
    header_.epoch = reader.u64("epoch");
    header_.at = Instant{reader.i64("at")};
    const wire::Value* settings = reader.map("settings", wire::Presence::Required);
    if (reader.fault()) return fault(reader.fault()->path + ": " + reader.fault()->message);
    auto all = read_recorded_settings(*settings);
    if (!all.ok()) return fault("settings: " + all.error().text());
    header_.settings = *all;
    return {};
}

/// The next record; nullopt: the file ends, perhaps within a record.
Result<std::optional<wire::Value>> RecordingReader::read_record() {
    std::optional<wire::Value> nothing;
    if (left_ == 0 || cut_) return nothing;
    unsigned char head[kLengthBytes] = {};
    cut_ = left_ < kLengthBytes || !file_.read(reinterpret_cast<char*>(head), kLengthBytes);
    if (cut_) return nothing;
    left_ -= kLengthBytes;
    std::uint64_t length = 0;
    for (const unsigned char byte : head) length = length << 8U | byte;
    if (length > kMaxRecord) return fault(fmt::format("a record of {} bytes: the file is damaged", length));
    if (length > left_) {
        cut_ = true;
        return nothing;
    }
    std::string bytes(length, '\0');
    if (!file_.read(bytes.data(), static_cast<std::streamsize>(length))) return fault("cannot be read");
    left_ -= length;
    const auto body = wire::scan_body(bytes);
    if (!body.ok()) return fault("the file is damaged: " + body.error().message);
    return std::optional{wire::decode_value(*body)};
}

Result<std::optional<RecordedStep>> RecordingReader::next() {
    std::optional<RecordedStep> none;
    ++steps_;
    std::optional<wire::Value> command = std::exchange(ahead_, std::nullopt);
    if (!command) {
        YK_TRY(read, read_record());
        command = std::move(read);
    }
    if (!command) return none;
    RecordedStep step;
    step.number = steps_;
    step.fields = *std::move(command);
    {
        wire::BodyReader reader(step.fields);
        step.what = reader.text("do", wire::Presence::Required);
        step.at = Instant{reader.i64("at")};
        if (reader.fault()) return fault(reader.fault()->path + ": " + reader.fault()->message);
    }
    YK_TRY(after, read_record());
    step.last = !after;
    for (bool more = true; more && after && after->contains("said");) {
        const wire::Value& lines = (*after)["said"];
        if (!lines.is_array()) return fault("said: expected a list");
        for (const wire::Value& line : lines) {
            if (!line.is_string()) return fault("said: expected texts");
            step.said.push_back(line.get<std::string>());
        }
        wire::BodyReader reader(*after);
        step.refused = reader.optional_text("refused", wire::TextRule::Config);
        more = reader.flag("more");
        if (reader.fault()) return fault(reader.fault()->path + ": " + reader.fault()->message);
        YK_TRY(next, read_record());
        after = std::move(next);
        if (more && !after) { // cut short: the lines are left out, as if none had been recorded
            step.said.clear();
            step.last = true;
        }
    }
    ahead_ = std::move(after);
    return std::optional{std::move(step)};
}

Result<std::vector<std::string>> find_recordings(const std::string& path) {
    std::error_code fault;
    if (!std::filesystem::is_directory(path, fault)) return std::vector<std::string>{path};
    std::vector<std::string> found;
    for (std::filesystem::directory_iterator it(path, fault), end; !fault && it != end; it.increment(fault))
        if (it->path().extension() == kRecordingSuffix) found.push_back(it->path().string());
    if (fault) return Error::at(path, "cannot be read: " + fault.message());
    if (found.empty())
        return Error::at(path,
                         fmt::format("has no recording (*{}); ykd --record {} makes them", kRecordingSuffix, path));
    std::sort(found.begin(), found.end()); // their names begin with the time
    return found;
}

} // namespace yk
