// SPDX-License-Identifier: Apache-2.0
#include "ykd/configuration/reload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include "ykd/configuration/config_errors.h"
#include "ykd/process/log.h"

namespace yk::service {
namespace {

using Result = RmReload::Result;

constexpr std::array<std::string_view, 7> kResults{"active", "unchanged", "refused", "kept",
                                                   "noFile", "gone",      "underWay"};

/// A file that was read once for all RMs that follow it.
struct ReadFile {
    std::string refusal; // empty: `candidate` is good
    std::optional<Candidate> candidate;
};

} // namespace

/// One reload on its way. Owner: the closures that it waits for. Thread: any.
class Reloader::UnderWay : public std::enable_shared_from_this<UnderWay> {
public:
    UnderWay(Reloader& reloader, ReloadRequest request, std::function<void(const ReloadReport&)> done)
        : reloader_(reloader), parts_(reloader.parts_), request_(std::move(request)), done_(std::move(done)) {
        report_.dry_run = request_.dry_run;
    }

    void begin(std::chrono::milliseconds patience) {
        if (!request_.dry_run && !request_.follow_up) parts_.files.note_reload(); // before the RMs are listed
        if (request_.rm_id.empty()) reread_process();
        std::vector<RmPtr> rms = request_.rm_id.empty() ? parts_.rms.all() : only(parts_.rms.find(request_.rm_id));
        rms.erase(std::remove_if(rms.begin(), rms.end(), [](const RmPtr& rm) { return !rm->facts().configuration; }),
                  rms.end());
        read_files(rms);
        report_.rms.resize(rms.size());
        missing_ = rms.size() + 1; // one more for this function, so that nothing ends before all have begun
        for (std::size_t i = 0; i < rms.size(); ++i) begin(i, rms[i]);
        end_after(patience);
        end_part();
    }

private:
    void end_after(std::chrono::milliseconds patience) {
        const std::lock_guard lock(mutex_);
        end_of_patience_ = parts_.deadlines.call_after(
            patience, [self = shared_from_this()] { self->parts_.workers.post([self] { self->finish(); }); });
    }

    /// Rereads what belongs to no RM: peers and tokens, and the log file.
    void reread_process() {
        report_.access = parts_.access.reread(request_.dry_run);
        if (!request_.dry_run) reopen_log();
    }
    static std::vector<RmPtr> only(const RmPtr& rm) { return rm ? std::vector<RmPtr>{rm} : std::vector<RmPtr>{}; }

    /// Reads all of the daemon's files, also those that no RM follows; for a reload of one RM only its own.
    void read_files(const std::vector<RmPtr>& rms) {
        std::set<std::string> paths;
        if (request_.rm_id.empty())
            for (const auto& [group, path] : parts_.files.files()) paths.insert(path);
        for (const RmPtr& rm : rms)
            if (const std::string path = file_of(parts_.files, rm->facts()); !path.empty()) paths.insert(path);
        for (const std::string& path : paths) read(path);
    }
    void read(const std::string& path) {
        ReadFile& file = files_[path];
        ReloadReport::File entry{path, {}, wire::Value::array()};
        auto text = read_config_file(path);
        if (!text.ok()) {
            file.refusal = text.error().message;
            if (!request_.dry_run) log("core.config").warn("{}", file.refusal);
        } else {
            file.candidate = file_candidate({std::move(text).value(), path});
            entry.problems = problems_value(*file.candidate->outcome);
            if (!file.candidate->good()) file.refusal = file.candidate->refusal();
            if (!file.candidate->good() && !request_.dry_run) log_refusal(file);
        }
        entry.refusal = file.refusal;
        report_.files.push_back(std::move(entry));
    }
    static void log_refusal(const ReadFile& file) {
        log("core.config").warn("{}", file.refusal);
        log_problems("the same file", *file.candidate->outcome, 1); // the first is in the line above
    }

    // --- one RM ---------------------------------------------------------------------------------

    void begin(std::size_t i, const RmPtr& rm) {
        const RmFacts facts = rm->facts();
        RmReload& part = report_.rms[i];
        part.rm_id = rm->id;
        part.file = file_of(parts_.files, facts);
        part.origin = facts.config_origin;
        if (differs_from_file(parts_.files, facts) && !request_.from_file) return end(i, Result::Kept);
        if (part.file.empty() && request_.from_file)
            return end(i, Result::Refused, fmt::format("there is no file for policy group {}", facts.policy_group));
        if (part.file.empty()) return end(i, Result::NoFile);
        if (files_.count(part.file) == 0)
            read(part.file); // the RM came to another policy group since the files were read
        const ReadFile& file = files_.at(part.file);
        if (file.refusal.empty()) return change(i, rm, *file.candidate);
        if (!request_.dry_run) note_refusal(*rm, file.refusal);
        end(i, Result::Refused, file.refusal);
    }
    void change(std::size_t i, const RmPtr& rm, Candidate candidate) {
        candidate.add_message(request_.message);
        ConfigChange change{
            .rm = rm, .epoch = rm->epoch(), .candidate = std::move(candidate), .policy_group = {}, .done = {}};
        change.dry_run = request_.dry_run;
        change.done = [self = shared_from_this(), i, rm](const ChangeOutcome& outcome) { self->take(i, *rm, outcome); };
        parts_.changer.begin(std::move(change));
    }
    void take(std::size_t i, const Rm& rm, const ChangeOutcome& outcome) {
        if (outcome.refusal) return end(i, outcome.rm_left ? Result::Left : Result::Refused, outcome.refusal->message);
        wire::Value changes = request_.dry_run ? changes_of(rm, *outcome.wanted, outcome.preview) : wire::Value{};
        end(i, outcome.changed ? Result::Active : Result::Unchanged, {}, std::move(changes));
    }

    /// Notes the outcome for one RM. Only the first counts, and none after the reload has ended.
    void end(std::size_t i, Result result, const std::string& reason = {}, wire::Value changes = {}) {
        {
            const std::lock_guard lock(mutex_);
            if (finished_ || report_.rms[i].result != Result::UnderWay) return;
            report_.rms[i].result = result;
            report_.rms[i].reason = reason;
            report_.rms[i].changes = std::move(changes);
        }
        end_part();
    }
    void end_part() {
        if (--missing_ == 0) finish();
    }

    // --- the end --------------------------------------------------------------------------------

    void finish() {
        Deadlines::Key end_of_patience;
        {
            const std::lock_guard lock(mutex_);
            if (finished_) return;
            finished_ = true;
            end_of_patience = end_of_patience_;
        }
        parts_.deadlines.cancel(end_of_patience); // else the files would be held until then
        const bool is_news = std::any_of(report_.rms.begin(), report_.rms.end(), [](const RmReload& rm) {
            return rm.result == Result::Active || rm.result == Result::Refused;
        });
        const bool is_reported = !report_.dry_run && (is_news || !request_.follow_up);
        if (is_reported) reloader_.remember(report_.text());
        if (is_reported)
            log("core.config")
                .log(report_.good() ? spdlog::level::info : spdlog::level::warn, "reload{}: {}",
                     report_.good() ? "" : " failed", report_.text());
        done_(report_);
    }

    Reloader& reloader_;
    const Parts& parts_;
    const ReloadRequest request_;
    const std::function<void(const ReloadReport&)> done_;
    std::map<std::string, ReadFile> files_; // by path; only used by begin()
    std::atomic<std::size_t> missing_{0};   // RMs that are not done, and begin() itself
    std::mutex mutex_;                      // guards what follows, from the first change on
    bool finished_ = false;
    Deadlines::Key end_of_patience_;
    ReloadReport report_;
};

namespace {

std::string text_of(const RmReload& rm, bool dry_run) {
    switch (rm.result) {
    case Result::Active: return dry_run ? "would get another configuration" : "new configuration is active";
    case Result::Unchanged: return "unchanged";
    case Result::Refused: return "keeps its configuration";
    case Result::Kept:
        return fmt::format("keeps its own ({}), not {}; back to the file:  {}", rm.origin, rm.file, way_back(rm.rm_id));
    case Result::NoFile: return fmt::format("keeps its own ({}): there is no file for it (ykd --config)", rm.origin);
    case Result::Left: return "is not registered any more, or anew";
    case Result::UnderWay: return "under way; ykctl status says how it ends";
    }
    return {};
}

wire::Value rm_value(const RmReload& rm, bool dry_run) {
    wire::Value value{{"rmID", rm.rm_id},
                      {"result", kResults[static_cast<std::size_t>(rm.result)]},
                      {"origin", rm.origin},
                      {"text", text_of(rm, dry_run) + (rm.reason.empty() ? "" : ": " + rm.reason)}};
    if (!rm.file.empty()) value["file"] = rm.file;
    if (!rm.reason.empty()) value["reason"] = rm.reason;
    if (rm.result == Result::Kept) value["wayBack"] = way_back(rm.rm_id);
    if (!rm.changes.is_null()) value["changes"] = rm.changes;
    return value;
}

} // namespace

wire::Value report_value(const ReloadReport& report) {
    wire::Value files = wire::Value::array(), rms = wire::Value::array();
    for (const ReloadReport::File& file : report.files) {
        wire::Value value{{"file", file.path}, {"ok", file.refusal.empty()}, {"problems", file.problems}};
        if (!file.refusal.empty()) value["reason"] = file.refusal;
        files.push_back(std::move(value));
    }
    for (const RmReload& rm : report.rms) rms.push_back(rm_value(rm, report.dry_run));
    wire::Value value{{"ok", report.good()}, {"files", std::move(files)}, {"rms", std::move(rms)}};
    if (report.dry_run) value["dryRun"] = true;
    if (report.access) {
        value["settings"] = {{"ok", report.access->empty()}};
        if (!report.access->empty()) value["settings"]["reason"] = *report.access;
    }
    return value;
}

bool ReloadReport::good() const {
    return (!access || access->empty()) &&
           std::all_of(files.begin(), files.end(), [](const File& file) { return file.refusal.empty(); }) &&
           std::none_of(rms.begin(), rms.end(), [](const RmReload& rm) { return rm.result == Result::Refused; });
}

std::string ReloadReport::text() const {
    std::vector<std::string> parts;
    if (access)
        parts.push_back(access->empty() ? "peers and tokens reread" : "peers and tokens stay as they were: " + *access);
    for (const File& file : files)
        if (!file.refusal.empty()) parts.push_back(file.path + " is refused");
    for (const RmReload& rm : rms) parts.push_back(fmt::format("RM {}: {}", rm.rm_id, text_of(rm, dry_run)));
    if (rms.empty()) parts.emplace_back("no RM is registered");
    return fmt::format("{}", fmt::join(parts, "; "));
}

void Reloader::reload(const ReloadRequest& request, std::chrono::milliseconds patience,
                      std::function<void(const ReloadReport&)> done) {
    std::make_shared<UnderWay>(*this, request, std::move(done))->begin(patience);
}

std::string Reloader::last() const {
    const std::lock_guard lock(mutex_);
    return last_;
}

void Reloader::remember(std::string text) {
    const std::lock_guard lock(mutex_);
    last_ = std::move(text);
}

std::string file_of(const ConfigFiles& files, const RmFacts& facts) {
    return files.path_of(facts.policy_group);
}

bool differs_from_file(const ConfigFiles& files, const RmFacts& facts) {
    return !facts.config_from_file && !file_of(files, facts).empty();
}

std::string way_back(const std::string& rm_id) {
    return "ykctl config reload --from-file -r " + rm_id;
}

} // namespace yk::service
