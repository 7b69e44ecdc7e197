// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/core_link/core_usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "protocol/rm/answers.h"
#include "protocol/si/tool_requests.h"
#include "protocol/wire/body_reader.h"

namespace yk::service {
namespace {

constexpr int kApplicationPeriods = 4; // an application changes its queue only with another Deployment
constexpr int kForgottenAfter = 8;     // periods in which nobody wanted it

/// The object of a dump, or the first one of a list; null: there is none.
wire::Value object_of(const std::string& body) {
    const auto scanned = wire::scan_body(body);
    if (!scanned.ok()) return {};
    wire::Value reply = wire::decode_value(*scanned);
    const wire::Value& data = rm::member_of(reply, "data");
    if (!data.is_array()) return data;
    return data.empty() ? wire::Value{} : data.front();
}

/// The most of the types; nullopt: there is none.
std::optional<std::int64_t> most_of(const wire::Value& percents) {
    std::optional<std::int64_t> most;
    if (!percents.is_object()) return most;
    for (const auto& [type, percent] : percents.items())
        if (percent.is_number_integer()) most = std::max(most.value_or(0), percent.get<std::int64_t>());
    return most;
}

} // namespace

CoreUsage::CoreUsage(Parts parts)
    : rm_id_(std::move(parts.rm_id)),
      period_(parts.period),
      session_({std::move(parts.give), std::move(parts.post)}, parts.seed) {}

// --- what is wanted --------------------------------------------------------------------------------------------------

Result<CoreUsage::Used> CoreUsage::allocated(const std::string& partition, Duration max_age, Instant now) {
    return percent_of(want({What::Partition, partition, {}}, now), max_age, now);
}

Result<CoreUsage::Used> CoreUsage::of_queue(const std::string& partition, const std::string& application_id,
                                            Duration max_age, Instant now) {
    const Known& application = want({What::Application, partition, application_id}, now);
    const Duration patience = std::max(max_age, period_ * (kApplicationPeriods + 1));
    if (const std::string why = missing(application, patience, now); !why.empty()) return Error::of(why);
    return percent_of(want({What::Queue, partition, application.queue}, now), max_age, now);
}

const CoreUsage::Known& CoreUsage::want(const Key& key, Instant now) {
    Known& known = known_[key];
    known.wanted = now;
    const bool is_asked_rarely = key.what == What::Application && known.fault.empty();
    const Duration pause = is_asked_rarely ? period_ * kApplicationPeriods : period_;
    if (known.is_waiting || (known.at && now - *known.at < pause)) return known;
    known.is_waiting = true;
    waiting_.push_back(key);
    return known;
}

Result<CoreUsage::Used> CoreUsage::percent_of(const Known& known, Duration max_age, Instant now) const {
    if (const std::string why = missing(known, max_age, now); !why.empty()) return Error::of(why);
    return Used{known.percent, *known.at};
}

/// Why there is no value; empty: there is one.
std::string CoreUsage::missing(const Known& known, Duration max_age, Instant now) const {
    if (!known.at) return "the core is being asked; there is a value at the next look";
    if (!known.fault.empty()) return known.fault;
    max_age = std::max(max_age, period_ * 2); // what a look finds was asked for by the one before
    if (now - *known.at <= max_age) return {};
    return fmt::format("the core has not answered in the last {} s (maxAgeSeconds); ykctl mcs status says more",
                       std::chrono::duration_cast<std::chrono::seconds>(max_age).count());
}

// --- questions -------------------------------------------------------------------------------------------------------

bool CoreUsage::turn(Instant now) {
    const bool did = session_.turn(now);
    if (now >= next_forget_) forget(now);
    if (session_.is_asking() || waiting_.empty()) return did;
    const Key key = std::move(waiting_.front());
    waiting_.pop_front();
    ask(key);
    session_.turn(now);
    return true;
}

std::optional<Instant> CoreUsage::next_due() const {
    if (!session_.is_asking() && !waiting_.empty()) return Instant{};
    return session_.next_due();
}

void CoreUsage::ask(const Key& key) {
    constexpr std::array<const char*, 3> kDumps{"partitions", "app", "queue"};
    si::DumpRequest request;
    request.what = kDumps.at(static_cast<std::size_t>(key.what));
    request.partition = key.partition;
    request.rm_id = rm_id_;
    request.brief = true;
    if (key.what == What::Application) request.application = key.of;
    if (key.what == What::Queue) request.queue = key.of;
    session_.ask(request, [this, key](const CoreSession::Answer& answer, Instant now) { take(key, answer, now); });
}

void CoreUsage::take(const Key& key, const CoreSession::Answer& answer, Instant now) {
    Known& known = known_[key];
    known.is_waiting = false;
    known.at = now;
    known.fault.clear();
    if (!answer.ok()) {
        known.fault = fmt::format("the core of this ykd does not say: {}; a metric that is pushed needs no core",
                                  text_of(answer.error()));
        return;
    }
    const wire::Value object = object_of(*answer);
    if (key.what == What::Application) {
        known.queue = rm::text_of(object, "queueName");
        if (known.queue.empty()) known.fault = "the core has put its application into no queue yet";
        if (known.fault.empty()) static_cast<void>(want({What::Queue, key.partition, known.queue}, now));
        return;
    }
    const bool is_queue = key.what == What::Queue;
    const auto percent = most_of(is_queue ? rm::member_of(object, "absUsedCapacity")
                                          : rm::member_of(rm::member_of(object, "capacity"), "utilization"));
    known.percent = percent.value_or(0);
    if (percent) return;
    known.fault = is_queue ? fmt::format("queue {} has no max that it could be a share of; give it one in the "
                                         "configuration, or use allocatedPercent",
                                         key.of)
                           : fmt::format("partition {} has no nodes; ykctl mcs node create makes one", key.partition);
}

void CoreUsage::forget(Instant now) {
    next_forget_ = now + period_;
    std::erase_if(known_, [&](const auto& each) {
        return !each.second.is_waiting && now - each.second.wanted > period_ * kForgottenAfter;
    });
}

} // namespace yk::service
