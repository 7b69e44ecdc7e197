// SPDX-License-Identifier: Apache-2.0
#include "ykctl/scenario/player.h"

#include "protocol/rm/answers.h"
#include "ykctl/scenario/messages.h"
#include "ykctl/scenario/value_at.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>

namespace yk::scenario {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// The time between two polls of an expectation; short compared with the shortest `within` in use, 80 ms.
constexpr milliseconds kPollInterval{2};
constexpr milliseconds kLongestPollInterval{20};

bool is_answer(const wire::CallError& error) {
    return error.kind == wire::CallError::Kind::Refused || error.kind == wire::CallError::Kind::TooLarge;
}

std::string answer_text(const wire::CallError& error) {
    const std::string path = error.path.empty() ? "" : error.path + ": ";
    return fmt::format("{}: {}{}", error.name.empty() ? "refused" : error.name, path, error.message);
}

std::int64_t ceil_ms(Duration duration) {
    return std::chrono::ceil<milliseconds>(duration).count();
}

} // namespace

std::string StepFailure::text() const {
    return fmt::format("step {}: {}: wanted {}, found {}", step, unmet.path, unmet.wanted, unmet.found);
}

Player::Rm::Rm(rm::DaemonLink& link, const std::string& id, si::RegisterResourceManagerResponse reply)
    : client(link, *this, nullptr, rm::RmClient::of_stream(id)) {
    client.begin(std::move(reply));
}

rm::Handled Player::Rm::handle(const si::StreamItem& item) {
    auto releases = books.apply(item.kind, rm::body_of(item));
    std::move(releases.begin(), releases.end(), std::back_inserter(to_confirm));
    return rm::Handled::Done;
}

Player::Player(const Scenario& scenario, rm::DaemonLink& link, Duration liveness)
    : scenario_(scenario), link_(link), caller_(caller_of(link)), liveness_(liveness) {}

Result<std::vector<StepFailure>, wire::CallError> Player::play() {
    if (scenario_.config) {
        Step first;
        first.action = Action::Register;
        first.message["config"] = *scenario_.config;
        YK_CHECKED(call(first));
        if (!failures_.empty()) return std::move(failures_);
    }
    for (const Step& step : scenario_.steps) {
        ++step_;
        YK_CHECKED(play_step(step));
    }
    return std::move(failures_);
}

Player::Done Player::play_step(const Step& step) {
    switch (step.action) {
    case Action::Cycles: return cycles(step.cycles);
    case Action::Wait: return wait(step.duration);
    case Action::Expect: return expect(step);
    default: return call(step);
    }
}

std::string Player::rm_of(const Step& step) const {
    return step.rm.empty() ? scenario_.rm.rm_id : step.rm;
}

Player::Done Player::call(const Step& step) {
    const std::string id = rm_of(step);
    const Value message = message_of(step, id, scenario_.rm);
    auto answer = link_.call({kind_of(step.action), message}, rm::kOwnTimeout);
    if (!answer && !is_answer(answer.error())) return std::move(answer).error();
    if (answer.ok() == step.refused)
        fail({std::string{action_name(step.action)}, step.refused ? "refused" : "accepted",
              answer ? "accepted" : answer_text(answer.error())});
    if (step.action == Action::Register) YK_CHECKED(registered(id, answer));
    const auto rm = rms_.find(id);
    if (answer && rm != rms_.end() && step.action == Action::Releases)
        for (const Value& release : list_at(map_at(message, "releases"), "allocationsToRelease"))
            rm->second->books.release_sent(release);
    return settle();
}

/// Notes the answer to a registration. A refused one has ended an earlier one as well (I-122), whose books stay.
Player::Done Player::registered(const std::string& id, const wire::CallResult<std::string>& answer) {
    if (!answer) {
        if (const auto rm = rms_.find(id); rm != rms_.end()) rm->second->is_served = false;
        return {};
    }
    YK_TRY(reply, rm::decoded<si::RegisterResourceManagerResponse>("RegisterResourceManager", answer));
    rms_[id] = std::make_unique<Rm>(link_, id, std::move(reply));
    return {};
}

Player::Done Player::cycles(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        auto answer = caller_(si::StepRequest{});
        if (!answer) {
            if (!is_answer(answer.error())) return std::move(answer).error();
            fail({"cycles", "accepted", answer_text(answer.error())});
            return {};
        }
        YK_CHECKED(handle_callbacks()); // the reply to Step comes after the callbacks it caused (I-351)
    }
    return {};
}

Player::Done Player::wait(Duration duration) {
    if (!scenario_.virtual_clock) {
        const auto end = Clock::now() + duration;
        for (auto now = Clock::now(); now < end; now = Clock::now()) {
            std::this_thread::sleep_for(std::min<Clock::duration>(end - now, kLongestPollInterval));
            YK_CHECKED(handle_callbacks());
        }
        return settle();
    }
    // RM liveness follows the virtual clock (I-353): after a longer jump the daemon would take the RM for dead.
    const Duration longest = std::max<Duration>(liveness_ / 10 * 9, milliseconds{1});
    while (duration > Duration::zero()) {
        const Duration slice = std::min(duration, longest);
        auto answer = caller_(si::ClockRequest{static_cast<std::uint64_t>(ceil_ms(slice))});
        if (!answer) {
            if (!is_answer(answer.error())) return std::move(answer).error();
            fail({"wait", "accepted", answer_text(answer.error())});
            return {};
        }
        duration -= slice;
        YK_CHECKED(handle_callbacks()); // timers that are due fire before the reply (I-353)
    }
    return settle();
}

Player::Done Player::expect(const Step& step) {
    const auto deadline = Clock::now() + step.duration;
    milliseconds interval = kPollInterval;
    for (;;) {
        YK_CHECKED(settle());
        const bool is_last = Clock::now() >= deadline;
        std::vector<Unmet> unmet;
        YK_CHECKED(check_once(step, unmet));
        if (unmet.empty()) return {};
        if (is_last) {
            for (Unmet& one : unmet) fail(std::move(one));
            return {};
        }
        std::this_thread::sleep_for(std::min<Clock::duration>(interval, deadline - Clock::now()));
        interval = std::min(interval * 2, kLongestPollInterval);
    }
}

Player::Done Player::check_once(const Step& step, std::vector<Unmet>& unmet) {
    static const RmBooks kNoBooks;
    const std::string id = rm_of(step);
    const auto rm = rms_.find(id);
    const RmBooks& books = rm != rms_.end() ? rm->second->books : kNoBooks;
    Observer observer{caller_, id, step.partition};
    for (const auto& [key, wanted] : step.wanted.items()) {
        if (key == "applications" || key == "queues" || key == "nodes" || key == "partitions") {
            YK_CHECKED(check_section(observer, key, wanted, unmet));
        } else if (wanted.is_array()) {
            compare_members(key, wanted, books.observed(key), unmet);
        } else if (wanted.is_object()) {
            const bool is_count = key == "allocationsOf" || key == "allocationsOn";
            compare_entries(key, wanted, books.observed(key), is_count ? Value(0) : Value{}, unmet);
        } else {
            compare_value(key, wanted, books.observed(key), unmet);
        }
    }
    return {};
}

Player::Done Player::check_section(Observer& observer, const std::string& section, const Value& wanted,
                                   std::vector<Unmet>& unmet) {
    for (const auto& [name, thing] : wanted.items()) {
        const std::string path = section + "." + name;
        auto found = observer.look(section, name);
        if (found)
            compare_thing(path, thing, *found, unmet);
        else if (is_answer(found.error()))
            unmet.push_back({path, shown(thing), answer_text(found.error())});
        else
            return std::move(found).error();
    }
    return {};
}

Player::Done Player::settle() {
    for (;;) {
        for (const auto& [id, rm] : rms_) {
            if (!rm->is_served) continue;
            si::SyncRequest request;
            request.rm_id = id;
            auto answer = caller_(request);
            if (!answer && !is_answer(answer.error())) return std::move(answer).error();
        }
        YK_TRY(confirmed, drain_all());
        if (!confirmed) return {};
    }
}

Player::Done Player::handle_callbacks() {
    YK_TRY(confirmed, drain_all());
    return confirmed ? settle() : Done{};
}

wire::CallResult<bool> Player::drain_all() {
    bool confirmed = false;
    for (auto& [id, rm] : rms_) {
        if (!rm->is_served) continue;
        YK_TRY(one, drain(id, *rm));
        confirmed = confirmed || one;
    }
    return confirmed;
}

wire::CallResult<bool> Player::drain(const std::string& id, Rm& rm) {
    if (const auto drained = rm.client.drain(); !drained.ok()) {
        if (!is_answer(drained.error())) return drained.error();
        rm.is_served = false;
        fail({"callbacks of " + id, "delivered", answer_text(drained.error())});
    }
    auto releases = std::exchange(rm.to_confirm, {});
    if (releases.empty() || !scenario_.rm.confirm_releases) return false;
    return confirm(id, std::move(releases));
}

wire::CallResult<bool> Player::confirm(const std::string& id, std::vector<si::AllocationRelease> releases) {
    si::AllocationRequest request;
    request.rm_id = id;
    request.releases.allocations_to_release = std::move(releases);
    auto answer = caller_(request);
    if (answer) return true;
    if (!is_answer(answer.error())) return std::move(answer).error();
    fail({"confirmation of " + id, "accepted", answer_text(answer.error())});
    return false;
}

void Player::unregister_all() {
    for (const auto& [id, rm] : rms_)
        if (rm->is_served) static_cast<void>(caller_(si::UnregisterResourceManagerRequest{.rm_id = id, .force = true}));
    rms_.clear();
}

void Player::fail(Unmet unmet) {
    failures_.push_back({step_, std::move(unmet)});
}

} // namespace yk::scenario
