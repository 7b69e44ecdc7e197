// SPDX-License-Identifier: Apache-2.0
#include "protocol/work/allocation_work.h"

#include <algorithm>
#include <cerrno>

#include "libcore/base/pluralize.h"
#include "libcore/base/text.h"
#include "protocol/si/enums.h"

namespace yk::work {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstBackOff{1000}, kLongestBackOff{60'000}; // before a command is started again
constexpr milliseconds kSteady{60'000};                              // after so long the back-off begins anew
constexpr milliseconds kHookRest{1000}; // before a hook is tried again for which the machine lacked something
constexpr std::size_t kMostNotes = 1000;
constexpr std::size_t kLongestNote = 2000;

std::string short_partition(std::string_view name) {
    const auto bracket = name.find(']');
    if (!name.empty() && name[0] == '[' && bracket != std::string_view::npos) name.remove_prefix(bracket + 1);
    return name.empty() ? "default" : std::string{name};
}

/// Ids may hold any byte, so their lengths keep two names apart.
std::string name_of(std::string_view partition, const std::string& application_id, const std::string& allocation_key) {
    return short_partition(partition) + "\t" + std::to_string(application_id.size()) + "\t" + application_id + "\t" +
           allocation_key;
}

template <class Message>
std::string name_of(const Message& message) {
    return name_of(message.partition_name, message.application_id, message.allocation_key);
}

std::string shown(const si::Allocation& allocation) {
    return allocation.application_id + "/" + allocation.allocation_key;
}

/// Whether the machine lacks something that it may have again soon.
bool is_shortage(int code) {
    return code == EAGAIN || code == ENOMEM || code == EMFILE || code == ENFILE;
}

std::string seconds_text(milliseconds time) {
    return std::to_string(time.count() / 1000) + "s";
}

} // namespace

// --- what the core says ---------------------------------------------------------------------------------------------

void AllocationWork::placed(Announced<si::Allocation> allocation) {
    const Name name = name_of(allocation.message);
    if (const auto known = entries_.find(name); known != entries_.end()) {
        if (known->second.gone) known->second.next = std::move(allocation);
        // It was given back, and the daemon ended before it was known to others: it was restored, and goes once more.
        else if (known->second.phase == Phase::Over && !is_being_released(name))
            send_release(known->second);
        return;
    }
    const bool has_command = !allocation.message.placeholder && command_of(allocation.message).has_value();
    if (options_.executes && !has_command && !std::exchange(said_that_no_tag_, true))
        note("debug: allocation " + shown(allocation.message) +
             " has no tag command: nothing is started for it, or for others without");
    if (!has_hooks() && !(options_.executes && has_command)) return;
    Entry& entry = entries_[name];
    entry.allocation = std::move(allocation.message);
    entry.account = std::move(allocation.account);
    add_hooks(name, entry, false, allocation.json, {});
    begin(name, entry);
    has_more_ = true;
}

void AllocationWork::had(si::Allocation allocation) {
    const Name name = name_of(allocation);
    const bool matters = (options_.executes && command_of(allocation)) || has_hooks();
    if (entries_.count(name) != 0 || !matters) return;
    Entry& entry = entries_[name];
    entry.allocation = std::move(allocation);
    begin(name, entry);
    has_more_ = true;
}

void AllocationWork::let_go() {
    held_ = false;
    has_more_ = true;
}

void AllocationWork::released(Announced<si::AllocationRelease> release, bool confirms, TimePoint now) {
    const Name name = name_of(release.message);
    auto known = entries_.find(name);
    if (known == entries_.end()) {
        if (options_.on_release.empty()) {
            if (confirms) releases_.push_back(std::move(release.message));
            return;
        }
        known = entries_.try_emplace(name).first;
        si::Allocation& allocation = known->second.allocation;
        allocation.partition_name = release.message.partition_name;
        allocation.application_id = release.message.application_id;
        allocation.allocation_key = release.message.allocation_key;
    }
    Entry& entry = known->second;
    if (entry.gone) {   // announced once more, or the one that waits for its key is gone already
        if (confirms) { // when what still runs in its place has ended
            entry.confirms = true;
            entry.release = std::move(release.message);
        }
        entry.next.reset();
        return;
    }
    entry.gone = true;
    entry.confirms = confirms;
    entry.release = std::move(release.message);
    entry.release_json = std::move(release.json);
    if (entry.phase == Phase::Over) // what was to be sent because of its end is no longer needed
        releases_.erase(std::remove_if(releases_.begin(), releases_.end(),
                                       [&name](const si::AllocationRelease& each) { return name_of(each) == name; }),
                        releases_.end());
    leave_line(entry);
    if (entry.phase == Phase::Running) commands_.end(entry.command, now);
    settle(name);
    has_more_ = true;
}

void AllocationWork::refused(Announced<si::AllocationRelease> release, TimePoint now) {
    if (entries_.count(name_of(release.message)) != 0) released(std::move(release), false, now);
}

void AllocationWork::lost(const std::string& why, const JsonOf& json_of, TimePoint now) {
    releases_.clear();
    std::vector<Name> names;
    for (auto& [name, entry] : entries_) {
        entry.next.reset();
        entry.confirms = false;
        if (!entry.gone) names.push_back(name);
    }
    if (!names.empty())
        note(why + "; ends what was started for " + pluralize(names.size(), "allocation") + " that it had");
    for (const Name& name : names) {
        si::AllocationRelease release;
        const si::Allocation& allocation = entries_.at(name).allocation;
        release.partition_name = allocation.partition_name;
        release.application_id = allocation.application_id;
        release.allocation_key = allocation.allocation_key;
        release.message = why;
        std::string json = json_of(release);
        released({std::move(release), std::move(json)}, false, now);
    }
}

void AllocationWork::stop(TimePoint now) {
    if (std::exchange(stopping_, true)) return;
    for (auto& [name, entry] : entries_) {
        leave_line(entry);
        if (entry.phase == Phase::Running) commands_.end(entry.command, now);
    }
}

// --- commands -------------------------------------------------------------------------------------------------------

/// An allocation that is new here: its command waits for its turn, if it has one.
void AllocationWork::begin(const Name& name, Entry& entry) {
    if (!options_.executes || stopping_ || entry.allocation.placeholder || !command_of(entry.allocation)) return;
    entry.phase = Phase::Waiting;
    entry.turn = ++last_turn_;
    waiting_.emplace(entry.turn, name);
}

/// It waits for nothing any more.
void AllocationWork::leave_line(Entry& entry) {
    if (entry.phase == Phase::Waiting) waiting_.erase(entry.turn);
    if (entry.phase == Phase::Resting) resting_.erase({entry.since, entry.turn});
    if (entry.phase == Phase::Waiting || entry.phase == Phase::Resting) entry.phase = Phase::Idle;
}

Result<Command> AllocationWork::command_for(Entry& entry) {
    Command command;
    command.text = command_of(entry.allocation).value_or("");
    YK_TRY(policy, restart_policy_of(entry.allocation, options_.restart));
    entry.policy = policy;
    Variables variables;
    YK_CHECKED(add_tagged_variables(entry.allocation, variables));
    variables.merge(variables_of(entry.allocation, options_.rm_id));
    command.environment =
        environment(entry.account ? entry.account->environment : options_.base_environment, variables);
    if (entry.account) {
        command.identity = entry.account->identity;
        command.directory = entry.account->directory;
        command.drops_rights = true;
    }
    command.limits = limits_of(entry.allocation);
    if (options_.output) {
        YK_TRY(output, options_.output(entry.allocation));
        command.output = std::move(output);
    }
    return command;
}

void AllocationWork::start(const Name& name, Entry& entry, TimePoint now) {
    auto command = command_for(entry);
    auto started = command.ok() ? commands_.start(std::move(command).value(), now) : command.error();
    if (!started.ok()) {
        const Error& error = started.error();
        entry.since = now;
        if (is_shortage(error.code)) return wait_for_more(name, entry, error.text(), now);
        if (error.code != 0) // of the system: it may be otherwise the next time
            return ended(name, entry, nullptr, "not started: " + error.text(), now);
        return over(entry, "not started: " + error.text());
    }
    entry.phase = Phase::Running;
    entry.command = *started;
    entry.since = now;
    running_[*started] = {name, false};
}

/// A command has ended, or could not be started (`how` is nullptr).
void AllocationWork::ended(const Name& name, Entry& entry, const Ended* how, const std::string& why, TimePoint now) {
    entry.phase = Phase::Idle;
    entry.command = 0;
    entry.why = why;
    if (entry.gone || stopping_) return settle(name);
    const bool failed = how == nullptr || !how->is_success();
    const RestartPolicy& policy = entry.policy;
    const bool wanted = policy.when == Restart::Always || (policy.when == Restart::OnFailure && failed);
    if (!wanted) return over(entry, why);
    if (policy.most && entry.restarts >= *policy.most)
        return over(entry, why + ", after " + pluralize(entry.restarts, "restart"));
    if (now - entry.since >= kSteady) entry.back_off = {};
    ++entry.restarts;
    rest(name, entry, now);
    note(shown(entry.allocation) + ": " + why + "; started again in " + seconds_text(entry.back_off) + " (restart " +
         std::to_string(entry.restarts) + (policy.most ? " of " + std::to_string(*policy.most) : std::string{}) + ")");
}

/// It is started later, and later each time.
void AllocationWork::rest(const Name& name, Entry& entry, TimePoint now) {
    entry.back_off = std::clamp(entry.back_off * 2, kFirstBackOff, kLongestBackOff);
    entry.phase = Phase::Resting;
    entry.turn = ++last_turn_;
    entry.since = now + entry.back_off;
    resting_[{entry.since, entry.turn}] = name;
}

void AllocationWork::wait_for_more(const Name& name, Entry& entry, const std::string& why, TimePoint now) {
    rest(name, entry, now);
    entry.why = "not started yet: " + why;
    note(shown(entry.allocation) + ": not started yet: " + why + "; tried again in " + seconds_text(entry.back_off));
}

/// The work of the allocation is over, so the RM gives it back.
void AllocationWork::over(Entry& entry, const std::string& why) {
    entry.phase = Phase::Over;
    entry.why = why;
    send_release(entry);
    note(shown(entry.allocation) + ": " + why + "; released");
}

void AllocationWork::send_release(const Entry& entry) {
    si::AllocationRelease& release = releases_.emplace_back();
    release.partition_name = entry.allocation.partition_name;
    release.application_id = entry.allocation.application_id;
    release.allocation_key = entry.allocation.allocation_key;
    release.termination_type = si::TerminationType::StoppedByRm;
    release.message = entry.why;
}

bool AllocationWork::is_being_released(const Name& name) const {
    return std::any_of(releases_.begin(), releases_.end(),
                       [&name](const si::AllocationRelease& each) { return name_of(each) == name; });
}

/// What follows for an allocation that is gone, as soon as nothing of it runs.
void AllocationWork::settle(const Name& name) {
    const auto found = entries_.find(name);
    if (found == entries_.end() || !found->second.gone) return;
    Entry& entry = found->second;
    if (entry.phase == Phase::Running) return;
    if (!entry.release_json.empty()) {
        const std::string json = std::exchange(entry.release_json, {});
        add_hooks(name, entry, true, json,
                  {{"YK_TERMINATION_TYPE", std::string{si::text(entry.release->termination_type)}},
                   {"YK_MESSAGE", entry.release->message}});
    }
    if (entry.hook != 0 || !entry.hooks.empty()) return;
    if (entry.confirms) releases_.push_back(*std::move(entry.release));
    auto next = std::move(entry.next);
    entries_.erase(found);
    if (next && !stopping_) placed(*std::move(next));
}

// --- hooks ----------------------------------------------------------------------------------------------------------

void AllocationWork::add_hooks(const Name& name, Entry& entry, bool of_release, const std::string& json,
                               const Variables& more) {
    const auto& texts = of_release ? options_.on_release : options_.on_allocation;
    if (texts.empty()) return;
    if (hook_count_ + texts.size() > kMostHooks || hook_bytes_ + json.size() > kMostHookBytes)
        return note(shown(entry.allocation) + ": a hook is not run, since " + std::to_string(hook_count_) +
                    " wait already");
    const auto shared = std::make_shared<const std::string>(json);
    hook_bytes_ += json.size() * texts.size();
    hook_count_ += texts.size();
    for (std::size_t i = 0; i < texts.size(); ++i) entry.hooks.push_back({of_release, i, shared, more});
    if (entry.hook != 0 || entry.hook_turn != 0) return;
    entry.hook_turn = ++last_turn_;
    hooks_waiting_.emplace(entry.hook_turn, name);
}

/// A hook runs with the rights of whoever gave it, so nothing of its environment comes from tags.
Command AllocationWork::command_for(const Entry& entry, const Hook& hook, std::string& fault) const {
    Command command;
    command.text = (hook.of_release ? options_.on_release : options_.on_allocation)[hook.number];
    Variables variables = variables_of(entry.allocation, options_.rm_id);
    variables["YK_HOOK"] = hook.of_release ? "release" : "allocation";
    for (const auto& [name, value] : hook.more) variables[name] = value;
    command.environment = environment(options_.base_environment, variables);
    command.input = *hook.json;
    command.time_limit = options_.hook_timeout;
    if (!options_.output) return command;
    auto output = options_.output(entry.allocation);
    if (output.ok())
        command.output = std::move(output).value();
    else
        fault = "the output of a hook is dropped: " + output.error().text();
    return command;
}

void AllocationWork::start_hook(const Name& name, Entry& entry, TimePoint now) {
    entry.hook_turn = 0;
    std::string fault; // of its output
    auto started = commands_.start(command_for(entry, entry.hooks.front(), fault), now);
    if (!started.ok() && is_shortage(started.error().code) && !stopping_) {
        if (!std::exchange(hooks_rest_, true)) note("hooks are not run yet: " + started.error().text());
        hooks_from_ = now + kHookRest;
        entry.hook_turn = ++last_turn_;
        hooks_waiting_.emplace(entry.hook_turn, name);
        return;
    }
    if (!started.ok()) return hook_ended(name, entry, "not run: " + started.error().text());
    hooks_rest_ = false;
    if (!fault.empty()) note(std::move(fault));
    entry.hook = *started;
    ++running_hooks_;
    running_[*started] = {name, true};
}

/// `how`: empty when it was a success.
void AllocationWork::hook_ended(const Name& name, Entry& entry, const std::string& how) {
    const Hook& hook = entry.hooks.front();
    if (!how.empty())
        note(shown(entry.allocation) + ": hook " + (hook.of_release ? "release" : "allocation") + " '" +
             (hook.of_release ? options_.on_release : options_.on_allocation)[hook.number] + "': " + how);
    --hook_count_;
    hook_bytes_ -= hook.json->size();
    entry.hooks.pop_front();
    entry.hook = 0;
    if (entry.hooks.empty()) return settle(name);
    entry.hook_turn = ++last_turn_;
    hooks_waiting_.emplace(entry.hook_turn, name);
}

// --- the loop -------------------------------------------------------------------------------------------------------

void AllocationWork::take_ended(const Ended& how, TimePoint now) {
    const auto found = running_.find(how.id);
    if (found == running_.end()) return;
    const auto [name, is_hook] = found->second;
    running_.erase(found);
    if (is_hook) --running_hooks_;
    const auto entry = entries_.find(name);
    if (entry == entries_.end()) return;
    if (is_hook)
        hook_ended(name, entry->second, how.is_success() ? std::string{} : text(how));
    else
        ended(name, entry->second, &how, text(how), now);
}

void AllocationWork::start_what_may(TimePoint now) {
    while (!resting_.empty() && resting_.begin()->first.first <= now) {
        const Name name = resting_.begin()->second;
        Entry& entry = entries_.at(name);
        leave_line(entry);
        begin(name, entry);
    }
    const auto may_start = [this] {
        return !held_ && !waiting_.empty() && running_.size() - running_hooks_ < options_.most_commands;
    };
    const TimePoint end = TimePoint::clock::now() + kStartsFor;
    for (std::size_t started = 0; started < kStartsAtOnce && may_start(); ++started) {
        if (started != 0 && TimePoint::clock::now() > end) break;
        const Name name = waiting_.begin()->second;
        Entry& entry = entries_.at(name);
        leave_line(entry);
        start(name, entry, now);
    }
    has_more_ = may_start();
    for (bool is_first = true; may_run_hook() && hooks_from_ <= now; is_first = false) {
        has_more_ = has_more_ || (!is_first && TimePoint::clock::now() > end);
        if (!is_first && TimePoint::clock::now() > end) break;
        const Name name = hooks_waiting_.begin()->second;
        hooks_waiting_.erase(hooks_waiting_.begin());
        start_hook(name, entries_.at(name), now);
    }
}

void AllocationWork::step(TimePoint now) {
    for (const Ended& each : commands_.step(now)) take_ended(each, now);
    start_what_may(now);
}

std::optional<TimePoint> AllocationWork::due() const {
    if (has_more_) return TimePoint{};
    auto due = commands_.due();
    const auto add = [&due](TimePoint time) { due = std::min(due.value_or(time), time); };
    if (!resting_.empty()) add(resting_.begin()->first.first);
    if (may_run_hook()) add(hooks_from_);
    return due;
}

bool AllocationWork::is_idle() const {
    return running_.empty() && hooks_waiting_.empty() && !has_more_;
}

std::vector<si::AllocationRelease> AllocationWork::take_releases(std::size_t most) {
    const auto end = releases_.begin() + static_cast<std::ptrdiff_t>(std::min(most, releases_.size()));
    std::vector<si::AllocationRelease> taken(std::make_move_iterator(releases_.begin()), std::make_move_iterator(end));
    releases_.erase(releases_.begin(), end);
    return taken;
}

void AllocationWork::put_back(std::vector<si::AllocationRelease> releases) {
    releases_.insert(releases_.begin(), std::make_move_iterator(releases.begin()),
                     std::make_move_iterator(releases.end()));
}

void AllocationWork::note(std::string text) {
    if (notes_.size() >= kMostNotes) {
        ++notes_dropped_;
        return;
    }
    if (text.size() > kLongestNote) text = shortened(text, kLongestNote);
    notes_.push_back(std::move(text));
}

std::vector<std::string> AllocationWork::take_notes() {
    std::vector<std::string> taken(std::make_move_iterator(notes_.begin()), std::make_move_iterator(notes_.end()));
    notes_.clear();
    if (const auto dropped = std::exchange(notes_dropped_, 0); dropped != 0)
        taken.push_back("and " + std::to_string(dropped) + " more such messages");
    return taken;
}

// --- what has become of it -------------------------------------------------------------------------------------------

std::string_view text(WorkState::Phase phase) noexcept {
    switch (phase) {
    case WorkState::Phase::Waiting: return "waiting";
    case WorkState::Phase::Running: return "running";
    case WorkState::Phase::Resting: return "restarting";
    case WorkState::Phase::Ending: return "ending";
    case WorkState::Phase::Over: break;
    }
    return "over";
}

std::optional<WorkState> AllocationWork::state_of(const AllocationName& name) const {
    const auto found = entries_.find(name_of(name.partition, name.application_id, name.allocation_key));
    if (found == entries_.end()) return std::nullopt;
    const Entry& entry = found->second;
    WorkState state{WorkState::Phase::Over, entry.since, entry.restarts, entry.why};
    if (entry.phase == Phase::Waiting) state.phase = WorkState::Phase::Waiting;
    if (entry.phase == Phase::Running) state.phase = entry.gone ? WorkState::Phase::Ending : WorkState::Phase::Running;
    if (entry.phase == Phase::Resting) state.phase = WorkState::Phase::Resting;
    return state;
}

} // namespace yk::work
