// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/local_work/local_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "libcore/base/pluralize.h"
#include "libcore/mcs/work_tags.h"
#include "protocol/mcs/schedule_text.h"
#include "protocol/work/output.h"
#include "ykd/mcs/local_work/account_rules.h"
#include "ykd/process/log.h"

namespace yk::service {
namespace {

using std::chrono::milliseconds;

/// A replica whose command ends at once is placed anew no more often than this.
constexpr Duration kLeastLife = std::chrono::seconds{10};
constexpr Duration kAskAgain = std::chrono::seconds{60}; // as whom a command may run, that was refused
constexpr milliseconds kMoment{1000};                    // for what follows the end of a command
constexpr std::uint64_t kMostOutput = 10U << 20U;        // bytes of a file
constexpr std::size_t kFilesPerCommand = 4;              // so many files of output are kept
constexpr std::size_t kAtOnce = 1000;                    // ends of commands in one turn

si::AllocationRelease release_of(const std::string& partition, const std::pair<std::string, std::string>& key) {
    si::AllocationRelease release;
    release.partition_name = partition;
    release.application_id = key.first;
    release.allocation_key = key.second;
    return release;
}

/// Whose application it is about; empty: none.
const std::string& application_of(const mcs::CoreRequest& request) {
    static const std::string kNone;
    if (const auto* added = std::get_if<mcs::AddApplication>(&request)) return added->application_id;
    if (const auto* removed = std::get_if<mcs::RemoveApplication>(&request)) return removed->application_id;
    if (const auto* asked = std::get_if<mcs::AskReplica>(&request)) return asked->application_id;
    if (const auto* released = std::get_if<mcs::ReleaseReplica>(&request)) return released->application_id;
    return kNone;
}

/// A name such as `web` is below root.
std::string full_path(const std::string& queue) {
    if (queue.empty() || queue == "root") return "root";
    return queue.rfind("root.", 0) == 0 ? queue : "root." + queue;
}

} // namespace

std::string output_folder(const std::string& state_directory) {
    return state_directory + "/mcs-output";
}

std::string output_name(const std::string& partition, const std::string& application_id,
                        const std::string& allocation_key) {
    si::Allocation allocation;
    allocation.partition_name = partition;
    allocation.application_id = application_id;
    allocation.allocation_key = allocation_key;
    return work::output_file_name(allocation);
}

Result<std::shared_ptr<work::Worker>> start_local_worker(const LocalWorkSettings& settings, const std::string& rm_id,
                                                         const std::string& state_directory,
                                                         std::function<void()> on_news) {
    YK_TRY(opened, work::OutputFolder::open(output_folder(state_directory), kMostOutput));
    opened.keep_at_most(kFilesPerCommand * static_cast<std::size_t>(settings.max_commands));
    opened.on_shortage([](bool is_short, const std::string& sentence) {
        log("mcs").log(is_short ? spdlog::level::warn : spdlog::level::info, "{}", sentence);
    });
    const auto folder = std::make_shared<work::OutputFolder>(std::move(opened));
    work::AllocationWork::Options how;
    how.rm_id = rm_id;
    how.executes = true;
    how.restart = work::Restart::Always;
    how.most_commands = static_cast<std::size_t>(settings.max_commands);
    how.output = [folder](const si::Allocation& allocation) {
        return folder->file(work::output_file_name(allocation));
    };
    work::Commands::Options commands;
    commands.grace = std::chrono::duration_cast<milliseconds>(settings.grace);
    commands.record = state_directory + "/mcs-commands";
    YK_TRY(worker, work::Worker::start(std::move(commands), std::move(how), std::move(on_news)));
    if (const auto count = worker->commands().left_over(); count != 0)
        log("mcs").warn("ended what an earlier ykd had started and left: {}",
                        count == 1 ? "1 process" : fmt::format("{} processes", count));
    const work::Cgroups* const cgroups = worker->commands().cgroups();
    const std::string& why = cgroups != nullptr ? cgroups->no_limits() : worker->commands().no_cgroups();
    if (!why.empty()) log("mcs").info("what a command may use of memory and processors is not enforced: {}", why);
    return std::shared_ptr<work::Worker>{std::move(worker)};
}

// --- rows ------------------------------------------------------------------------------------------------------------

rs::HandlerResult LocalWork::on_add(const rs::EventContext& context, const rs::Ptr<mcs::DeploymentSchedule>& row) {
    follow(*row, context.now);
    return rs::HandlerResult::ok();
}

rs::HandlerResult LocalWork::on_update(const rs::EventContext& context, const rs::Ptr<mcs::DeploymentSchedule>& /*old*/,
                                       const rs::Ptr<mcs::DeploymentSchedule>& row) {
    return on_add(context, row);
}

rs::HandlerResult LocalWork::on_delete(const rs::EventContext& /*context*/,
                                       const rs::Ptr<mcs::DeploymentSchedule>& last) {
    const auto found = by_row_.find(last->meta.id);
    if (found == by_row_.end()) return rs::HandlerResult::ok();
    for (const Key& each : std::set<Key>{found->second}) end_or_drop(commands_.find(each));
    return rs::HandlerResult::ok();
}

bool LocalWork::is_local(const std::string& node_id) const {
    const auto node = parts_.nodes.get(node_id);
    return node && mcs::is_local(node->attributes);
}

bool LocalWork::is_here(const mcs::Placement& placement) const {
    return placement.state == mcs::PlacementState::Placed && is_local(placement.node_id);
}

/// Cost: that of the row's placements.
void LocalWork::follow(const mcs::DeploymentSchedule& row, Instant now) {
    std::set<Key> wanted;
    for (const mcs::Placement& each : row.placements)
        if (is_here(each)) wanted.emplace(row.application_id, each.allocation_key);
    if (const auto known = by_row_.find(row.meta.id); known != by_row_.end())
        for (const Key& each : std::set<Key>{known->second})
            if (wanted.count(each) == 0) end_or_drop(commands_.find(each));
    if (wanted.empty()) return;
    const auto status = mcs::parse_schedule_status(row.status);
    if (!status.ok()) return; // of another program: it is about to be written anew
    for (const mcs::Placement& each : row.placements) {
        const Key key{row.application_id, each.allocation_key};
        if (const auto known = commands_.find(key); known != commands_.end() && wanted.count(key) != 0)
            known->second.is_wanted = true; // again, perhaps, while its command is ending
        if (wanted.count(key) != 0 && commands_.count(key) == 0 && !status->spec_of(each.attempt).work.empty())
            begin(row, each, *status, now);
    }
}

void LocalWork::begin(const mcs::DeploymentSchedule& row, const mcs::Placement& placement,
                      const mcs::ScheduleStatus& status, Instant now) {
    const mcs::ReplicaSpec& spec = status.spec_of(placement.attempt);
    const Key key{row.application_id, placement.allocation_key};
    Command& command = commands_[key];
    command.row = row.meta.id;
    command.partition = status.application.partition;
    command.since = now;
    by_row_[row.meta.id].insert(key);
    const std::string queue = full_path(status.application.queue);
    if (!may_run_from(parts_.settings, queue))
        return refuse(command, key, fmt::format("its queue {} is not among mcs.local.queues", queue));
    si::Allocation allocation;
    allocation.partition_name = status.application.partition;
    allocation.application_id = row.application_id;
    allocation.allocation_key = placement.allocation_key;
    allocation.node_id = placement.node_id;
    allocation.resource_per_alloc.emplace(spec.resource.begin(), spec.resource.end());
    allocation.allocation_tags = {spec.work.begin(), spec.work.end()};
    allocation.allocation_tags.emplace_back("env.MCS_REPLICA", std::to_string(placement.replica));
    const auto submitter = spec.work.find(mcs::kSubmitterTag);
    command.question = std::make_shared<const Question>(
        Question{std::move(allocation), submitter == spec.work.end() ? std::string{} : submitter->second});
    ask(key, command);
}

/// Of one submitter one question is under way, for all whose commands wait for it.
void LocalWork::ask(const Key& key, Command& command) {
    command.phase = Phase::Asking;
    const std::string& submitter = command.question->submitter;
    std::set<Key>& waiting = asked_[submitter];
    const bool is_asked = !waiting.empty();
    waiting.insert(key);
    if (is_asked) return;
    parts_.ask_names([this, submitter, &settings = parts_.settings, post = parts_.post] {
        auto account = account_for(settings, submitter);
        post([this, submitter, account = std::move(account)] { account_found(submitter, account); });
    });
}

/// Some may have been given up meanwhile, or begun anew for somebody else.
void LocalWork::account_found(const std::string& submitter, const Result<work::Account>& account) {
    const auto waiting = asked_.extract(submitter);
    for (const Key& key : waiting.mapped()) {
        const auto found = commands_.find(key);
        if (found == commands_.end() || found->second.phase != Phase::Asking) continue;
        if (found->second.question->submitter == submitter) hand_over(key, found->second, account);
    }
}

void LocalWork::hand_over(const Key& key, Command& command, const Result<work::Account>& account) {
    if (!account.ok()) {
        over_.emplace(now_ + kAskAgain, key); // an account may come, and a name service may have failed
        return refuse(command, key, account.error().text());
    }
    command.phase = Phase::Handed;
    refused_.erase(command.row);
    parts_.worker->placed({command.question->allocation, {}, std::make_shared<const work::Account>(*account)});
}

/// Of equal ones of a Deployment one is logged.
void LocalWork::refuse(Command& command, const Key& key, const std::string& why) {
    command.phase = Phase::Refused;
    command.why = why;
    std::string& logged = refused_[command.row];
    if (std::exchange(logged, why) != why) log("mcs").warn("the command of {} is not run: {}", key.second, why);
}

// --- ends ------------------------------------------------------------------------------------------------------------

/// The worker is asked to end it, and says when it has.
void LocalWork::end(Commands::iterator command) {
    if (command->second.phase != Phase::Handed) return;
    command->second.phase = Phase::Ending;
    parts_.worker->released({release_of(command->second.partition, command->first), {}, {}}, true);
}

/// The row does not have it any more.
void LocalWork::end_or_drop(Commands::iterator command) {
    end(command);
    command->second.is_wanted = false;
    if (command->second.phase != Phase::Ending) drop(command);
}

void LocalWork::drop(Commands::iterator command) {
    const auto row = by_row_.find(command->second.row);
    row->second.erase(command->first);
    if (row->second.empty()) {
        refused_.erase(row->first);
        by_row_.erase(row);
    }
    // A command that is over is known to the worker until somebody releases it.
    if (command->second.phase == Phase::Over || command->second.phase == Phase::Released)
        parts_.worker->released({release_of(command->second.partition, command->first), {}, {}}, false);
    commands_.erase(command);
}

void LocalWork::hold(Commands::iterator command, const std::shared_ptr<Held>& held) {
    end(command);
    if (command->second.phase != Phase::Ending) {
        command->second.phase = Phase::Released;
        return;
    }
    command->second.held.push_back(held);
    ++held->waits_for;
}

/// The next life of a replica is asked for when the command of the one before has ended: both may want the same port or
/// file, and as long as it is not asked for, it counts among those that a change may have away at a time.
void LocalWork::hold_next_life(const mcs::AskReplica& ask, const std::shared_ptr<Held>& held) {
    const std::string replica = ask.allocation_key.substr(0, ask.allocation_key.rfind('.') + 1);
    for (auto each = commands_.lower_bound({ask.application_id, replica}); each != commands_.end(); ++each) {
        if (each->first.first != ask.application_id || !each->first.second.starts_with(replica)) return;
        if (each->second.phase != Phase::Ending || each->first.second == ask.allocation_key) continue;
        each->second.held.push_back(held);
        ++held->waits_for;
    }
}

bool LocalWork::holds(const mcs::CoreRequest& request) {
    const std::string& application = application_of(request);
    if (const auto removal = removals_.find(application); removal != removals_.end()) {
        removal->second->requests.push_back(request);
        return true;
    }
    if (std::holds_alternative<mcs::EndRecovery>(request) && held_ > 0) {
        ends_.push_back(request);
        return true;
    }
    const auto held = std::make_shared<Held>(Held{{request}, 0});
    if (const auto* release = std::get_if<mcs::ReleaseReplica>(&request))
        if (const auto found = commands_.find({application, release->allocation_key}); found != commands_.end())
            hold(found, held);
    if (const auto* ask = std::get_if<mcs::AskReplica>(&request)) hold_next_life(*ask, held);
    const bool removes = std::holds_alternative<mcs::RemoveApplication>(request);
    if (removes)
        for (auto each = commands_.lower_bound({application, {}});
             each != commands_.end() && each->first.first == application; ++each)
            hold(each, held);
    if (held->waits_for == 0) return false;
    ++held_;
    if (removes) removals_.emplace(application, held);
    return true;
}

void LocalWork::hand_back(Held& held) {
    --held_;
    if (std::holds_alternative<mcs::RemoveApplication>(held.requests.front()))
        removals_.erase(application_of(held.requests.front()));
    parts_.requests.put_back(std::move(held.requests));
    if (held_ != 0) return;
    for (mcs::CoreRequest& each : std::exchange(ends_, {})) parts_.requests.add(std::move(each));
}

void LocalWork::forget_held() {
    held_ = 0;
    removals_.clear();
    ends_.clear();
}

bool LocalWork::holds(const si::AllocationRelease& release) {
    const auto found = commands_.find({release.application_id, release.allocation_key});
    if (found == commands_.end()) return false;
    end(found);
    if (found->second.phase != Phase::Ending) {
        found->second.phase = Phase::Released; // nothing runs, nor begins
        return false;
    }
    found->second.confirmation = release;
    return true;
}

/// Commands go on, or end, as they were; those that are over are given back to the core that comes next.
void LocalWork::forget() {
    forget_held();
    for (auto& [key, command] : commands_) {
        command.held.clear();
        command.confirmation.reset();
        if (command.phase != Phase::Released) continue;
        command.phase = Phase::Over;
        over_.emplace(now_ + kLeastLife, key);
    }
}

// --- work ------------------------------------------------------------------------------------------------------------

bool LocalWork::turn(Instant now) {
    now_ = now;
    for (const std::string& each : parts_.worker->take_notes()) {
        constexpr std::string_view kDebug = "debug: ";
        if (each.rfind(kDebug, 0) != 0) log("mcs").warn("command of {}", each);
    }
    const auto ended = parts_.worker->take_releases(kAtOnce);
    for (const si::AllocationRelease& each : ended) take_end({each.application_id, each.allocation_key}, now);
    bool any = !ended.empty();
    while (!over_.empty() && over_.begin()->first <= now) {
        const Key key = over_.begin()->second;
        over_.erase(over_.begin());
        const auto found = commands_.find(key);
        if (found == commands_.end()) continue;
        if (found->second.phase == Phase::Refused && found->second.question) ask(key, found->second);
        if (found->second.phase != Phase::Over) continue;
        found->second.phase = Phase::Released;
        parts_.requests.add(mcs::ReleaseReplica{key.first, found->second.partition, key.second});
        any = true;
    }
    return any;
}

std::optional<Instant> LocalWork::next_due() const {
    return over_.empty() ? std::nullopt : std::optional{over_.begin()->first};
}

/// It has ended because it was asked to, or by itself, not to be started again.
void LocalWork::take_end(const Key& key, Instant now) {
    const auto found = commands_.find(key);
    if (found == commands_.end()) return;
    Command& command = found->second;
    if (command.phase == Phase::Ending) return give_back(found);
    if (command.phase != Phase::Handed) return;
    command.phase = Phase::Over;
    over_.emplace(std::max(now, command.since + kLeastLife), key);
}

/// Nothing runs any more: what was held goes to the core.
void LocalWork::give_back(Commands::iterator command) {
    command->second.phase = Phase::Released;
    const auto held = std::exchange(command->second.held, {});
    auto confirmation = std::exchange(command->second.confirmation, std::nullopt);
    const bool is_known_to_core = held.empty() && !confirmation; // as a replica that is placed
    for (auto each = held.rbegin(); each != held.rend(); ++each) // each goes before what is there
        if (--(*each)->waits_for == 0) hand_back(**each);
    if (confirmation) parts_.confirm(*std::move(confirmation));
    if (!command->second.is_wanted) return drop(command);
    if (!is_known_to_core) return;
    command->second.phase = Phase::Over; // its row was away for a moment: it is placed anew
    over_.emplace(now_ + kLeastLife, command->first);
}

void LocalWork::stand_down() {
    if (!commands_.empty())
        parts_.worker->lost("this ykd does not lead any more",
                            [](const si::AllocationRelease&) { return std::string{}; });
    forget_held();
    commands_.clear();
    by_row_.clear();
    over_.clear();
    refused_.clear();
}

void LocalWork::stop() {
    parts_.worker->stop();
}

void LocalWork::wait_for_end() {
    const auto most = std::chrono::duration_cast<milliseconds>(parts_.settings.grace) + kMoment;
    if (!parts_.worker->wait_until_idle(most)) log("mcs").warn("some commands did not end in time, and are killed");
}

// --- for whoever looks at it -----------------------------------------------------------------------------------------

void LocalWork::look_at(const std::vector<Commands::iterator>& commands) {
    std::vector<work::AllocationName> names;
    names.reserve(commands.size());
    for (const auto& each : commands) names.push_back({each->second.partition, each->first.first, each->first.second});
    const auto all = names.empty() ? std::nullopt : parts_.worker->states_of(names);
    if (!all) return;
    for (std::size_t at = 0; at < commands.size(); ++at) {
        const auto& known = all->at(at);
        commands[at]->second.seen =
            known ? std::optional{State{std::string{work::text(known->phase)}, known->restarts, known->why}}
                  : std::nullopt;
    }
}

std::vector<std::optional<LocalWork::State>> LocalWork::states_of(const mcs::DeploymentSchedule& row, bool leads) {
    std::vector<Commands::iterator> there;
    for (const mcs::Placement& each : row.placements)
        if (const auto found = commands_.find({row.application_id, each.allocation_key}); found != commands_.end())
            there.push_back(found);
    look_at(there);
    std::vector<std::optional<State>> states;
    const bool may_begin = leads && there.size() < row.placements.size();
    const auto status = may_begin ? mcs::parse_schedule_status(row.status) : Error{};
    auto next = there.begin();
    for (const mcs::Placement& each : row.placements) {
        auto& state = states.emplace_back();
        if (next == there.end() || (*next)->first.second != each.allocation_key) {
            if (status.ok() && is_here(each) && !status->spec_of(each.attempt).work.empty())
                state = State{"waiting", 0, {}};
            continue;
        }
        const Command& command = (*next++)->second;
        state = command.seen.value_or(State{command.phase == Phase::Refused ? "refused" : "waiting", 0, command.why});
    }
    return states;
}

std::map<std::string, LocalWork::Sums> LocalWork::sums_of(const std::vector<std::string>& schedules) {
    std::vector<Commands::iterator> there;
    for (const std::string& schedule : schedules)
        if (const auto row = by_row_.find(schedule); row != by_row_.end())
            for (const Key& key : row->second)
                if (const auto found = commands_.find(key); found->second.is_wanted) there.push_back(found);
    look_at(there);
    std::map<std::string, Sums> sums;
    for (const auto& each : there) {
        Sums& sum = sums[each->second.row];
        ++sum.all;
        if (each->second.seen && each->second.seen->phase == work::text(work::WorkState::Phase::Running)) ++sum.running;
    }
    return sums;
}

} // namespace yk::service
