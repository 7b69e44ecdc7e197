// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/served_rm.h"

#include <algorithm>
#include <string_view>

#include "protocol/wire/body_reader.h"
#include "protocol/wire/codec.h"

namespace yk::sim {
namespace {

using Place = AskEntry::Place;
using si::ErrorCode;

constexpr Nanoseconds kPause = seconds{2}; // between two attempts of a recovery
constexpr Nanoseconds kStop = seconds{3};  // longest time that a container takes to stop
constexpr std::uint32_t kMostAttempts = 5; // of a recovery

/// The message in an answer; nullopt: it cannot be read, which no answer of the daemon may be.
template <class T>
std::optional<T> decoded(World& world, const std::string& body) {
    const auto scanned = wire::scan_body(body);
    if (scanned.ok()) {
        wire::DecodeOptions options;
        options.check_texts = false;
        auto message = wire::decode<T>(*scanned, options);
        if (message.ok()) return std::move(message).value();
        world.fail("the daemon sent what cannot be decoded: " + message.error().message);
    } else {
        world.fail("the daemon sent what cannot be read: " + scanned.error().message);
    }
    return std::nullopt;
}

} // namespace

ServedRm::ServedRm(World& world, DaemonHost& host, std::string rm_id, Manners manners)
    : world_(world), host_(host), rm_id_(std::move(rm_id)), manners_(manners), books_(world, rm_id_) {}

const char* ServedRm::state() const {
    switch (state_) {
    case State::New: return "New";
    case State::Registering: return "Registering";
    case State::Registered: return "Registered";
    case State::Recovering: return "Recovering";
    case State::Running: return "Running";
    case State::Failed: return "Failed";
    }
    return "";
}

void ServedRm::set_state(State state) {
    state_ = state;
    world_.trace("{}: is {}", rm_id_, this->state());
}

bool ServedRm::is_calm() const {
    return state_ == State::Running && world_.now() >= std::max(awake_at_, reads_at_) && session_->is_up() &&
           session_->open_changes() == 0 && stopping_ == 0;
}

std::function<void()> ServedRm::in_this_life(std::function<void()> call) {
    return [this, life = life_, call = std::move(call)] {
        when_awake([this, life, call] {
            if (life == life_) call();
        });
    };
}

void ServedRm::when_awake(std::function<void()> call) {
    if (world_.now() >= awake_at_) return call();
    world_.after(awake_at_ - world_.now(), [this, call = std::move(call)] { when_awake(call); });
}

void ServedRm::stall(Nanoseconds time) {
    world_.trace("{}: stopped for {} ms", rm_id_, time / milliseconds{1});
    awake_at_ = std::max(awake_at_, world_.now() + time);
    session_->sleep(awake_at_);
}

void ServedRm::stop_reading(Nanoseconds time) {
    world_.trace("{}: fetches nothing for {} ms", rm_id_, time / milliseconds{1});
    reads_at_ = std::max(reads_at_, world_.now() + time);
}

// --- registration and recovery --------------------------------------------------------------------------------------

void ServedRm::start() {
    start_process(world_.between(Nanoseconds{0}, manners_.gathering), false);
    plan_change();
}

void ServedRm::crash(Nanoseconds absence) {
    world_.trace("{}: crashed for {} ms", rm_id_, absence / milliseconds{1});
    const bool is_clean = is_calm();
    session_->abandon();
    start_process(absence, is_clean && world_.chance(0.5));
}

/// `goes_on`: it wants to go on where the last one ended.
void ServedRm::start_process(Nanoseconds delay, bool goes_on) {
    ++life_;
    awake_at_ = reads_at_ = {};
    session_ =
        std::make_shared<Session>(world_, host_, rm_id_, Connection::Counters{rm_id_, [this] { return state(); }});
    set_state(State::New);
    world_.after(delay, in_this_life([this, goes_on] { goes_on ? try_to_resume() : begin("it starts"); }));
}

/// Registers anew, and reports everything.
void ServedRm::begin(const char* why) {
    world_.trace("{}: registers: {}", rm_id_, why);
    ++life_;
    set_state(State::Registering);
    books_.begin_epoch();
    epoch_ = handled_ = 0;
    positions_.clear();
    attempt_ = 0;
    items_.clear();
    left_out_.clear();
    outdated_.clear();
    sparing_ = 0;
    reads_at_ = {};
    register_now();
}

void ServedRm::register_now() {
    const bool recovers = books_.any() || world_.chance(0.3);
    si::RegisterResourceManagerRequest request;
    request.rm_id = rm_id_;
    request.version = "sim";
    if (!leaves_configuration_out(recovers)) request.config = configuration_text(manners_);
    request.capabilities = {"reportIgnored"};
    recovery_id_ = fmt::format("{}-{}", rm_id_, life_);
    if (recovers) request.recovery = recovery_wish();
    session_->change(si::Kind::RegisterResourceManager, wire::encoded(request),
                     [this, life = life_, recovers](const Answer& answer) {
                         if (life == life_) on_registered(answer, recovers);
                     });
}

/// Whether it registers with the configuration that the daemon knows, or has kept over a restart.
bool ServedRm::leaves_configuration_out(bool recovers) {
    strikes_ = host_.disk().strikes();
    without_configuration_ = recovers && !checksum_.empty() && !host_.disk().faults().any() && world_.chance(0.5);
    return without_configuration_;
}

void ServedRm::judge_configuration(const std::string& checksum) {
    if (host_.disk().strikes() != strikes_) return checksum_.clear(); // it may not have been written, or not been read
    if (!without_configuration_) {
        checksum_ = checksum;
    } else {
        world_.cover("rm: went on with the configuration that was kept");
        if (checksum != checksum_)
            world_.fail(fmt::format("{}: its configuration was {}, and is {}", rm_id_, checksum_, checksum));
    }
}

si::RecoveryRequest ServedRm::recovery_wish() {
    recovers_from_ = world_.now();
    si::RecoveryRequest wish;
    wish.id = recovery_id_;
    wish.timeout_seconds = static_cast<std::uint32_t>(manners_.recovery / seconds{1});
    wish.idle_seconds = idle_seconds();
    return wish;
}

/// Another process of the RM goes on where the last one ended.
void ServedRm::try_to_resume() {
    world_.trace("{}: wants to go on", rm_id_);
    ++life_;
    static_cast<void>(leaves_configuration_out(false));
    set_state(State::Registering);
    si::RegisterResourceManagerRequest request;
    request.rm_id = rm_id_;
    request.config = configuration_text(manners_);
    request.capabilities = {"reportIgnored"};
    request.if_registered = "resume";
    recovery_id_ = fmt::format("{}-{}", rm_id_, life_);
    request.recovery = recovery_wish();
    session_->change(si::Kind::RegisterResourceManager, wire::encoded(request),
                     [this, life = life_](const Answer& answer) {
                         if (life != life_) return;
                         if (!answer.ok()) return begin("it cannot go on");
                         const auto reply = decoded<si::RegisterResourceManagerResponse>(world_, answer.body);
                         if (!reply) return;
                         if (!reply->kept) {
                             books_.begin_epoch();
                             handled_ = 0;
                             positions_.clear();
                             attempt_ = 0;
                             items_.clear();
                             return on_registered(answer, true);
                         }
                         world_.cover("rm: another process went on");
                         if (reply->stream_epoch != epoch_)
                             return world_.fail(fmt::format("{} went on in another epoch, {} after {}", rm_id_,
                                                            reply->stream_epoch, epoch_));
                         if (reply->last_ack.value_or(0) > handled_)
                             return world_.fail(
                                 fmt::format("{}: item {} was acknowledged and not handled", rm_id_, *reply->last_ack));
                         set_state(State::Running);
                         poll();
                     });
}

void ServedRm::on_registered(const Answer& answer, bool recovers) {
    if (answer.lost) return begin("its session was lost");
    if (!answer.ok()) return world_.fail(fmt::format("{}: registration refused: {}", rm_id_, answer.error->message));
    const auto reply = decoded<si::RegisterResourceManagerResponse>(world_, answer.body);
    if (!reply) return;
    epoch_ = reply->stream_epoch;
    judge_configuration(reply->config_checksum);
    set_state(recovers ? State::Registered : State::Running);
    poll();
    if (recovers) world_.after(world_.between(Nanoseconds{0}, manners_.gathering), in_this_life([this] { replay(); }));
}

void ServedRm::replay() {
    set_state(State::Recovering);
    auto messages = replay_messages();
    world_.cover("recovery: begun");
    if (world_.chance(manners_.forgetful) && !messages.empty()) {
        world_.cover("recovery: something left out");
        left_out_.assign(messages.begin(), messages.begin() + 1);
        messages.erase(messages.begin());
    }
    for (Message& each : messages) send(each.kind, std::move(each.body));
    recovery_done();
}

void ServedRm::recovery_done() {
    si::RecoveryDoneRequest request = books_.claim();
    request.rm_id = rm_id_;
    request.id = recovery_id_;
    request.attempt = ++attempt_;
    session_->change(si::Kind::RecoveryDone, wire::encoded(request), [this, life = life_](const Answer& answer) {
        if (life == life_) on_report(answer);
    });
}

void ServedRm::on_report(const Answer& answer) {
    if (starts_anew(answer)) return;
    if (answer.is(ErrorCode::BadState)) { // it took too long
        world_.cover("recovery: over before it was done");
        return resolve();
    }
    if (!answer.ok()) return world_.fail(fmt::format("{}: RecoveryDone refused: {}", rm_id_, answer.error->message));
    const auto report = decoded<si::RecoveryReport>(world_, answer.body);
    if (!report) return;
    world_.cover("recovery: " + report->result);
    if (report->result == "running") return set_state(State::Running);
    if (report->result == "failed" && !may_fail())
        return world_.fail(fmt::format("{}: its recovery has failed, at attempt {}", rm_id_, attempt_));
    if (report->result == "failed") return resolve();
    if (left_out_.empty() && !book_again(*report))
        return world_.fail(fmt::format(
            "{}: the recovery found a difference that is none: nodes {}/{}, applications {}/{}, "
            "allocations {}/{}, asks {}/{}, {} incomplete, {} in quarantine, {} unused releases",
            rm_id_, report->counts.nodes.expected, report->counts.nodes.actual, report->counts.applications.expected,
            report->counts.applications.actual, report->counts.allocations.expected, report->counts.allocations.actual,
            report->counts.asks ? report->counts.asks->expected : 0,
            report->counts.asks ? report->counts.asks->actual : 0, report->incomplete_nodes.size(),
            report->quarantine_total, report->unused_tombstones));
    if (manners_.hopeless && !resting_ && !left_out_.empty())
        return world_.after(world_.between(Nanoseconds{0}, kPause), in_this_life([this] { recovery_done(); }));
    for (Message& each : std::exchange(left_out_, {})) send(each.kind, std::move(each.body));
    recovery_done();
}

/// Whether there is a reason for a recovery to fail: the number of attempts, or that it took long.
bool ServedRm::may_fail() const {
    return attempt_ >= kMostAttempts || world_.now() - recovers_from_ >= seconds{idle_seconds()};
}

/// Says once more what is booked on nodes that something left since they were reported: until then they are incomplete
/// (I-221; that a release alone makes them complete again was misread). Returns whether that is all that differs.
bool ServedRm::book_again(const si::RecoveryReport& report) {
    for (const auto& node : report.incomplete_nodes)
        if (outdated_.count(node.node_id) == 0) return false;
    if (report.incomplete_nodes.empty()) return false;
    world_.cover("recovery: nodes booked again");
    for (const std::string& id : std::exchange(outdated_, {})) {
        const auto found = books_.nodes.find(id);
        if (found == books_.nodes.end()) continue;
        si::NodeRequest request;
        request.rm_id = rm_id_;
        si::NodeInfo info;
        info.node_id = id;
        info.action = si::NodeAction::Update;
        info.recovery = booked_on(id, found->second);
        request.nodes.push_back(std::move(info));
        send(si::Kind::UpdateNode, wire::encoded(request));
    }
    return true;
}

/// The recovery has failed.
void ServedRm::resolve() {
    set_state(State::Failed);
    if (world_.chance(0.5)) // which the daemon takes, as it takes all else
        for (Message& each : std::exchange(left_out_, {})) send(each.kind, std::move(each.body));
    world_.after(world_.between(Nanoseconds{0}, manners_.thinking), in_this_life([this] { resolve_now(); }));
}

void ServedRm::resolve_now() {
    if (world_.chance(0.5)) return begin("its recovery failed");
    si::ResolveRecoveryRequest request;
    request.rm_id = rm_id_;
    const bool again = world_.chance(0.5);
    request.action = again ? "retry" : "abort";
    if (!again) checksum_.clear(); // it is unregistered, and its configuration forgotten
    world_.cover("recovery: resolved by " + request.action);
    recovers_from_ = world_.now();
    session_->change(si::Kind::ResolveRecovery, wire::encoded(request),
                     [this, life = life_, again](const Answer& answer) {
                         if (life != life_ || starts_anew(answer)) return;
                         if (!answer.ok() || !again) return begin("its recovery was given up");
                         set_state(State::Recovering);
                         attempt_ = 0;
                         for (Message& each : std::exchange(left_out_, {})) send(each.kind, std::move(each.body));
                         recovery_done();
                     });
}

bool ServedRm::starts_anew(const Answer& answer) {
    if (answer.lost) {
        begin("its session was lost");
        return true;
    }
    for (const ErrorCode each :
         {ErrorCode::RmUnknown, ErrorCode::ResyncRequired, ErrorCode::StreamEpoch, ErrorCode::Forbidden})
        if (answer.is(each)) {
            world_.cover("rm: " + answer.error->name);
            begin(answer.error->name.c_str());
            return true;
        }
    return false;
}

void ServedRm::send(si::Kind kind, std::string body, bool spares) {
    if (spares) {
        books_.forget_victims();
        books_.spares = true; // what was decided before it was accepted may be heard after it was answered
        ++sparing_;
    }
    session_->change(kind, std::move(body), [this, life = life_, kind, spares](const Answer& answer) {
        if (life != life_) return;
        if (spares) --sparing_;
        if (starts_anew(answer)) return;
        if (!answer.ok())
            return world_.fail(fmt::format("{}: {} refused: {} {}", rm_id_, si::info(kind).name, answer.error->name,
                                           answer.error->message));
        const auto scanned = wire::scan_body(answer.body);
        const wire::Value reply = wire::decode_value(*scanned);
        const auto position = reply.value("position", std::uint64_t{0});
        if (position == 0) return world_.fail(fmt::format("{}: an update has no position", rm_id_));
        if (!positions_.insert(position).second)
            return world_.fail(fmt::format("{}: two updates have position {}", rm_id_, position));
    });
}

// --- the callback stream --------------------------------------------------------------------------------------------

void ServedRm::poll() {
    si::PollRequest request;
    request.rm_id = rm_id_;
    request.stream_epoch = epoch_;
    request.ack = handled_;
    request.max_items = static_cast<std::uint32_t>(world_.between(1, 20));
    request.wait_ms = static_cast<std::uint32_t>(world_.between(0, 8'000));
    // What is decided after a change was accepted knows it; a poll behind its answer brings all that was decided
    // before.
    session_->ask(si::Kind::Poll, wire::encoded(request),
                  [this, life = life_, is_behind = sparing_ == 0](const Answer& answer) {
                      if (life == life_) on_polled(answer, is_behind);
                  });
}

void ServedRm::on_polled(const Answer& answer, bool is_behind) {
    const auto again = [this](Nanoseconds most) {
        const Nanoseconds pause = std::max(world_.between(Nanoseconds{0}, most), reads_at_ - world_.now());
        world_.after(pause, in_this_life([this] { poll(); }));
    };
    if (answer.lost) return again(milliseconds{100});
    if (answer.error) {
        if (starts_anew(answer)) return;
        world_.cover("poll: " + answer.error->name);
        for (const ErrorCode each :
             {ErrorCode::Superseded, ErrorCode::Busy, ErrorCode::Timeout, ErrorCode::ShuttingDown, ErrorCode::AckOld})
            if (answer.is(each)) return again(milliseconds{300});
        return world_.fail(fmt::format("{}: Poll refused: {} {}", rm_id_, answer.error->name, answer.error->message));
    }
    const auto reply = decoded<si::PollReply>(world_, answer.body);
    if (!reply) return;
    if (reply->congested) world_.cover("stream: congested");
    for (const si::StreamItem& item : reply->items) {
        if (world_.has_failed()) return;
        if (world_.sabotages(sabotage::kLostItem, 0.01)) continue;
        handle(item);
    }
    if (is_behind && sparing_ == 0 && reply->backlog == 0) books_.spares = false;
    again(manners_.slow_reader && world_.chance(0.1) ? Nanoseconds{seconds{5}} : Nanoseconds{milliseconds{20}});
}

void ServedRm::handle(const si::StreamItem& item) {
    const std::size_t hash = std::hash<std::string>{}(item.kind + item.body.bytes);
    if (item.n == 0) return world_.fail(fmt::format("{}: an item has number 0", rm_id_));
    if (item.n <= handled_) {
        world_.cover("stream: repetition");
        if (items_.at(item.n - 1) != hash)
            world_.fail(fmt::format("{}: item {} came again as another", rm_id_, item.n));
        return;
    }
    if (item.n != handled_ + 1)
        return world_.fail(fmt::format("{}: item {} came after item {}", rm_id_, item.n, handled_));
    handled_ = item.n;
    items_.push_back(hash);
    world_.trace("{}: item {} {}", rm_id_, item.n, item.kind);
    if (item.kind == si::item::kUpdateNode) {
        if (const auto body = decoded<si::NodeResponse>(world_, item.body.bytes)) books_.hear(*body);
    } else if (item.kind == si::item::kUpdateApplication) {
        if (const auto body = decoded<si::ApplicationResponse>(world_, item.body.bytes)) books_.hear(*body);
    } else if (item.kind == si::item::kUpdateAllocation) {
        const auto body = decoded<si::AllocationResponse>(world_, item.body.bytes);
        if (!body) return;
        for (const auto& each : body->made)
            world_.trace("{}:   new {} on {}", rm_id_, each.allocation_key, each.node_id);
        for (const auto& each : body->released)
            world_.trace("{}:   released {} {}", rm_id_, each.allocation_key, si::text(each.termination_type));
        for (const RmBooks::ToStop& each : books_.hear(*body)) stop_later(each);
    } else {
        world_.cover("item: " + item.kind);
    }
}

/// Stops an allocation, as the daemon wishes, and says so. It takes its time, and perhaps another registration comes
/// before: then its end is news to the daemon.
void ServedRm::stop_later(const RmBooks::ToStop& stop) {
    ++stopping_;
    const auto stopped = [this, stop, life = life_] {
        const auto found = books_.asks.find(stop.key);
        if (found == books_.asks.end() || found->second.place != Place::Stopping) {
            --stopping_;
            return true;
        }
        if (state_ != State::Running && state_ != State::Recovering) return false;
        --stopping_;
        const AskEntry ask = found->second;
        if (life == life_) {
            if (const auto app = books_.apps.find(ask.app);
                app != books_.apps.end() && stop.type == si::TerminationType::PlaceholderReplaced) {
                app->second.replaced.insert(stop.key);
                app->second.vacated[ask.node] += ask.vcore;
            }
            books_.stopped(stop.key);
            if (world_.sabotages(sabotage::kLostRelease, 0.1)) return true;
            send(si::Kind::UpdateAllocation, body_of(ask.app, stop.key, stop.type));
        } else {
            found->second.place = Place::Leaving;
            if (state_ == State::Recovering) outdated_.insert(ask.node);
            send(si::Kind::UpdateAllocation, body_of(ask.app, stop.key, si::TerminationType::StoppedByRm));
        }
        return true;
    };
    retry(stopped, world_.between(Nanoseconds{0}, kStop));
}

void ServedRm::retry(std::function<bool()> call, Nanoseconds delay) {
    world_.after(delay, [this, call = std::move(call)] {
        when_awake([this, call] {
            if (!call()) retry(call, milliseconds{500});
        });
    });
}

} // namespace yk::sim
