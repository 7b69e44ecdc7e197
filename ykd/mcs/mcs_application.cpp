// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/mcs_application.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "protocol/mcs/policy_text.h"
#include "ykd/mcs/state_faults.h"
#include "ykd/mcs/take_turns.h"
#include "ykd/process/log.h"
#include "ykd/runtime/clock.h"

namespace yk::service {
namespace {

constexpr std::string_view kPurgeLease = "purge";
constexpr std::string_view kRelayLease = rs::kRelayLease;
constexpr Duration kLookAround = std::chrono::seconds{1};
constexpr Duration kLookAtLog = std::chrono::seconds{5}; // who keeps it back
/// Others that wait for a lease ask for it every second.
constexpr Duration kRelayPause = std::chrono::seconds{5};
constexpr Duration kSeenPatience = std::chrono::seconds{1};
constexpr std::size_t kMostWrites = 4096; // that wait, before those of users are refused

mcs::HousekeepingSettings housekeeping_settings(const McsSettings& settings) {
    mcs::HousekeepingSettings house;
    if (settings.events.transport != EventTransportKind::Embedded) house.relayed = rs::relayed_up_to;
    house.retention.keep = std::chrono::duration_cast<std::chrono::milliseconds>(settings.log_retention);
    house.retention.most_rows = settings.log_max_rows;
    return house;
}

mcs::LeaseSettings lease_settings(const McsSettings& settings) {
    mcs::LeaseSettings leases;
    leases.ttl = settings.lease_ttl;
    leases.renew = settings.lease_ttl / 3;
    leases.poll = std::min(leases.poll, leases.renew);
    return leases;
}

} // namespace

std::vector<std::string> lease_names(const EventTransport& transport) {
    std::vector<std::string> names{std::string{mcs::kAutoscalerService}, std::string{mcs::kSchedulerService},
                                   std::string{kPurgeLease}};
    if (transport.has_broker()) names.emplace_back(kRelayLease);
    return names;
}

McsApplication::McsApplication(Parts parts, McsConnections connections, std::optional<BrokerEnds> broker, Instant now)
    : parts_(std::move(parts)),
      connections_(std::move(connections)),
      house_(std::move(connections_.upkeep), housekeeping_settings(parts_.settings)),
      notices_(house_, parts_.degraded, parts_.event, broker.has_value()),
      transport_(std::move(broker), std::move(connections_.relay), *connections_.log, *connections_.leases,
                 parts_.seed + 4),
      manager_(transport_.log(), notices_, parts_.settings.framework, parts_.seed),
      deployments_(manager_.add(*connections_.deployments)),
      scales_(manager_.add(*connections_.scales)),
      schedules_(manager_.add(*connections_.schedules)),
      nodes_(manager_.add(*connections_.nodes)),
      by_name_(deployments_.add_index<std::string>([](const mcs::Deployment& row) { return &row.name; })),
      nodes_by_id_(nodes_.add_index<std::string>([](const mcs::Node& row) { return &row.meta.id; })),
      reader_({parts_.settings, deployments(), schedules(), parts_.give, parts_.post, parts_.seed + 4}),
      autoscaler_(ports()),
      on_deployment_(autoscaler_, deployments_),
      on_scale_(autoscaler_, scales_),
      rounds_(autoscaler_, deployments(), parts_.settings.autoscaler_period),
      reconciler_(autoscaler_, deployments(), scales()),
      scheduling_({parts_.settings, manager_, deployments_, scales_, schedules_, nodes_, queue_, parts_.give,
                   parts_.post, parts_.seed + 3, parts_.worker, parts_.ask_names},
                  now),
      operations_(manager_, connections_, {&deployments_, &scales_, &schedules_, &nodes_}),
      watch_(fmt::format("{:x}", parts_.seed)),
      seen_({manager_, deployments_, scales_, schedules_, nodes_, transport_.has_broker()}),
      lease_table_(*connections_.leases, parts_.holder,
                   std::chrono::duration_cast<std::chrono::milliseconds>(parts_.settings.lease_ttl)),
      group_(*connections_.writes, {parts_.holder, parts_.settings.lease_enabled}),
      writer_(group_, {}, parts_.seed + 1, [this] {
          has_answers_.store(true);
          parts_.wake();
      }) {
    begin(now);
}

/// Writes that nobody will finish any more go with the writer.
McsApplication::~McsApplication() {
    writer_.stop(mcs::McsWriter::Stop::Now);
}

mcs::AutoscalerPorts McsApplication::ports() {
    return {deployments(),
            scales(),
            schedules(),
            metrics_,
            texts_,
            queue_,
            [this](std::string_view id, Instant at) { manager_.enqueue(mcs::kScaleKind, id, at); },
            &reader_};
}

void McsApplication::begin(Instant now) {
    if (connections_.on_commit) connections_.on_commit([this](std::int64_t pages) { house_.committed(pages); });
    deployments_.add_handler(on_deployment_, mcs::options_of(mcs::kAutoscalerService), now);
    scales_.add_handler(on_scale_, mcs::options_of(mcs::kAutoscalerService), now);
    watch_.attach(deployments_, scales_, schedules_, now);
    manager_.add(rounds_, mcs::evaluation_options());
    manager_.add(reconciler_, {std::string{mcs::kAutoscalerService}, parts_.settings.autoscaler_reconcile_period});
    if (parts_.settings.lease_enabled) {
        leases_.emplace(lease_table_, lease_settings(parts_.settings), lease_names(transport_), parts_.seed + 2,
                        [this](std::string_view name, const std::optional<rs::Lease>& lease, Instant at) {
                            lease_changed(name, lease, at);
                        });
    } else {
        for (const std::string& name : lease_names(transport_)) lease_changed(name, rs::Lease{}, now);
    }
    manager_.start(now);
}

// --- work ------------------------------------------------------------------------------------------------------------

/// The calendar is what people see, and follows the machine's clock; it is looked at often enough for schedules.
bool McsApplication::work(Instant now) {
    take_news();
    bool any = take_answered(now);
    any = seen_.turn(now) || any;
    any = watch_.turn(now) || any;
    const bool has_asked = ask_for_leases(now);
    look_around(now);
    const bool has_turned = take_turns(manager_, now);
    const auto call = manager_.next_call(now);
    if (call) run(*call);
    any = any || has_asked || has_turned || call != nullptr;
    any = scheduling_.turn(now) || any;
    any = reader_.turn(now) || any;
    hand_out();
    return any;
}

/// One call at a time: a database that hangs takes long to answer each, and all else, with its own calls, goes on in
/// between.
bool McsApplication::ask_for_leases(Instant now) {
    if (!leases_) return false;
    leases_->turn(now);
    const auto call = leases_->next_call(now);
    if (call) run(*call);
    return call != nullptr;
}

Instant McsApplication::next_due(Instant now) const {
    Instant due = next_look_;
    for (const auto& each : {manager_.next_due(now), scheduling_.next_due(now), watch_.next_due(), seen_.next_due(),
                             reader_.next_due(), leases_ ? leases_->next_due() : std::nullopt})
        if (each) due = std::min(due, *each);
    return due;
}

/// The log is asked at once.
void McsApplication::take_news() {
    if (connections_.news && connections_.news->take()) manager_.wake();
}

void McsApplication::run(rs::IoCall& call) {
    call.run();
    call.finish(steady_instant());
}

/// What was written is read again at once, and so is what could not be written, since the cache may be why (rs R-091).
bool McsApplication::take_answered(Instant now) {
    if (!has_answers_.exchange(false)) return false;
    for (const auto& call : writer_.answered()) {
        const mcs::WriteCommand& command = call->request().command;
        manager_.enqueue(mcs::kind_of(command), mcs::id_of(command), now);
        if (std::holds_alternative<mcs::Fenced>(call->outcome())) ++fenced_writes_[call->request().writer.service];
        call->finish(now);
    }
    manager_.wake();
    transport_.wake();
    hand_out();
    return true;
}

void McsApplication::hand_out() {
    if (queue_.size() != 0) writer_.take(queue_);
}

void McsApplication::look_around(Instant now) {
    if (now < next_look_) return;
    next_look_ = now + kLookAround;
    autoscaler_.set_calendar(machine_now() - now);
    scheduling_.set_calendar(machine_now() - now);
    notices_.note("writes", writer_.status().fault);
    const auto house = house_.status();
    notices_.note("upkeep", house.fault);
    // Leases are written all the time: a disk that is full is noticed here, also when nobody else writes (rs F-32).
    const bool is_read = is_database_up(manager_, transport_);
    const std::string unwritten = leases_ && is_read ? leases_->fault() : std::string{};
    if (notices_.note("leases", unwritten))
        notices_.say("leases", "none can be written, and nobody leads here once they have run out: " + unwritten,
                     spdlog::level::warn);
    notices_.note("relay", house.is_relay_stuck
                               ? "the relay is more than mcs.log.maxRows changes behind, and those that "
                                 "it has not sent were removed from the log; see that the broker "
                                 "answers, and raise that number if it is too small for an outage"
                               : "");
    if (connections_.look_for_log_hold && is_read && now >= next_look_at_log_) {
        next_look_at_log_ = now + kLookAtLog;
        const LogHold hold = connections_.look_for_log_hold();
        log_held_for_ = hold.age;
        notices_.note("log", hold.fault);
    }
    if (manager_.is_running() && !running_since_) running_since_ = now;
    const StateFaults faults = faults_of(manager_, parts_.settings.framework, running_since_.value_or(now), now);
    note_change("rows", faults.rows);
    note_change("resync", faults.resync);
    note_change("start", faults.start);
    note_change("transport", transport_.trouble(now));
    if (leases_ && transport_.has_broker() && transport_.is_relay_to_give_up(now))
        leases_->give_up(kRelayLease, kRelayPause, now);
}

/// A line and an event when it changes; the sentence itself counts on.
void McsApplication::note_change(const std::string& part, const std::string& trouble) {
    notices_.note(part, trouble);
    const bool has_changed = trouble.empty() ? in_trouble_.erase(part) != 0 : in_trouble_.insert(part).second;
    if (has_changed) notices_.say(part, trouble.empty() ? "well again" : trouble);
}

/// The writer flushes on this thread; what it answers is finished here, and no later write is taken.
/// What a database that is away cannot take is not waited for.
void McsApplication::stop() {
    LocalWork* const work = scheduling_.work();
    if (work != nullptr) work->stop();
    const bool is_up = is_database_up(manager_, transport_);
    scheduling_.flush(steady_instant());
    hand_out();
    writer_.stop(is_up ? mcs::McsWriter::Stop::Flush : mcs::McsWriter::Stop::Now);
    const Instant now = steady_instant();
    for (const auto& call : writer_.answered()) call->finish(now);
    seen_.stop();
    watch_.stop(now);
    transport_.stop();
    if (leases_ && is_up) {
        leases_->release();
        while (const auto call = leases_->next_call(steady_instant())) run(*call);
    }
    house_.stop();
    if (work != nullptr) work->wait_for_end();
}

// --- leases ----------------------------------------------------------------------------------------------------------

std::optional<rs::Lease> McsApplication::lease(std::string_view name, Instant now) const {
    return leases_ ? leases_->lease(name, now) : std::optional{rs::Lease{}};
}

void McsApplication::lease_changed(std::string_view name, const std::optional<rs::Lease>& lease, Instant now) {
    const std::string what = fmt::format("lease {}", name);
    if (lease && !lease->is_valid)
        say_in_doubt(what);
    else
        notices_.say(what, lease ? "held" : "lost");
    if (!lease) ++lost_[std::string{name}];
    if (name == kPurgeLease) return house_.set_purging(lease && lease->is_valid);
    if (name == kRelayLease)
        return transport_.set_relay(lease, parts_.settings.lease_enabled ? parts_.holder : std::string{});
    if (lease && lease->is_valid && std::exchange(led_[std::string{name}], lease->epoch) != lease->epoch)
        forget_dead_letters(name);
    if (name == mcs::kSchedulerService) return scheduling_.lease_changed(lease, now);
    manager_.set_lease(name, lease, now);
}

/// One that could not be renewed in time is a warning only where the database is why.
void McsApplication::say_in_doubt(const std::string& lease) {
    constexpr const char* kInDoubt = "in doubt, nothing is written";
    const std::string why = leases_ ? leases_->fault() : std::string{};
    if (why.empty()) return notices_.say(lease, kInDoubt);
    notices_.say(lease, fmt::format("{}: it cannot be renewed: {}", kInDoubt, why), spdlog::level::warn);
}

/// Who begins to lead begins with every key anew: what an earlier one could not do is its business (rs R-086).
void McsApplication::forget_dead_letters(std::string_view service) {
    mcs::DeadLetterTable table{*connections_.leases};
    for (const rs::Kind kind : mcs::kKinds)
        if (const auto done = table.remove_all(kind, std::string{service}); !done.ok())
            log("mcs").warn("old dead letters stay in the table: {}", done.error().message);
}

// --- for requests ----------------------------------------------------------------------------------------------------

rs::Ptr<mcs::Deployment> McsApplication::find(const std::string& id_or_name) const {
    if (auto by_id = deployments().get(id_or_name)) return by_id;
    auto named = deployments().list(by_name_, id_or_name);
    return named.empty() ? nullptr : std::move(named.front());
}

std::size_t McsApplication::count_with_new() {
    std::erase_if(created_, [this](const Created& each) {
        return deployments().get(each.id) != nullptr || seen_.is_seen(mcs::kDeploymentKind, each.id, each.position);
    });
    return deployments().size() + creating_ + created_.size();
}

std::string McsApplication::refuses_writes() {
    const mcs::McsWriter::Status status = writer_.status();
    if (!status.fault.empty()) return "the database cannot be written: " + status.fault;
    if (status.waiting + queue_.size() >= kMostWrites) return "too many writes wait for the disk";
    return {};
}

Result<void> McsApplication::push_metric(const mcs::Deployment& deployment, const mcs::MetricSample& sample,
                                         Instant now) {
    const auto policy = mcs::parse_policy(*deployment.policy);
    if (!policy.ok()) return Error::at("name", "the policy cannot be read: " + policy.error().message);
    return metrics_.push(deployment.meta.uid, *policy, mcs::bounds_of(deployment), sample, now);
}

void McsApplication::write(mcs::WriteCommand command, std::function<void(const mcs::WriteOutcome&)> done) {
    Row row{mcs::kind_of(command), mcs::id_of(command), std::holds_alternative<mcs::InsertDeployment>(command)};
    if (row.is_new) ++creating_;
    queue_.add(mcs::WriteRequest{{std::string{mcs::kApiService}, 0}, std::move(command), false},
               [this, row = std::move(row), done = std::move(done)](const mcs::WriteOutcome& outcome, Instant now) {
                   answered(row, outcome, now, done);
               });
    hand_out();
}

void McsApplication::answered(const Row& row, const mcs::WriteOutcome& outcome, Instant now,
                              std::function<void(const mcs::WriteOutcome&)> done) {
    if (row.is_new) --creating_;
    const auto* const written = std::get_if<mcs::Written>(&outcome);
    if (written == nullptr) return done(outcome);
    if (row.is_new) created_.push_back({row.id, written->position});
    seen_.wait_for_row(row.kind, row.id, written->position, now + kSeenPatience,
                       [outcome, done = std::move(done)] { done(outcome); });
}

} // namespace yk::service
