// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/transport/event_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ykd/mcs/transport/mcs_clock.h"

namespace yk::service {
namespace {

/// A connection that is lost and comes back is no trouble.
constexpr Duration kBriefly = std::chrono::seconds{3};
/// A relay on a busy machine needs some time to begin.
constexpr Duration kLeastRelayPatience = std::chrono::seconds{5};
/// After twice as long without success a relay tries no longer than this before another process may.
constexpr Duration kMostRelayPatience = std::chrono::minutes{5};
/// A relay whose broker says nothing for so long is in trouble.
constexpr Duration kRelayPatience = std::chrono::seconds{30};

std::int64_t seconds_of(Duration duration) {
    return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

} // namespace

EventTransport::EventTransport(std::optional<BrokerEnds> broker, RelayConnections relay, rs::ChangeLog& database,
                               rs::SqlConnection& questions, std::uint64_t seed)
    : broker_(std::move(broker)), connections_(std::move(relay)), database_(database) {
    if (!broker_) return;
    rs::FallbackSettings settings;
    settings.after = broker_->fallback_after;
    fallback_.emplace(*broker_->log, database_, settings, steady_instant, [&questions] {
        const auto progress = rs::relay_progress(questions);
        return progress.ok() ? std::optional{*progress} : std::nullopt;
    });
    relay_patience_ = first_patience();
    relay_ = std::make_unique<RelayThread>(
        RelayThread::Ports{*connections_.log, *broker_->publisher, *connections_.table, broker_->topics}, seed);
}

rs::ChangeLog& EventTransport::log() {
    return fallback_ ? static_cast<rs::ChangeLog&>(*fallback_) : database_;
}

void EventTransport::set_relay(const std::optional<rs::Lease>& lease, const std::string& holder) {
    if (!lease || !lease->is_valid) return relay_->rest();
    if (holder.empty()) return relay_->lead(std::nullopt);
    relay_->lead(rs::RelayLease{holder, lease->epoch});
}

/// Before the readers leave the broker, so that they need not where another relay gets through.
Duration EventTransport::first_patience() const {
    const Duration leaving = broker_->fallback_after > Duration{} ? broker_->fallback_after : kRelayPatience;
    return std::clamp<Duration>(leaving / 2, kLeastRelayPatience, kMostRelayPatience);
}

bool EventTransport::is_relay_to_give_up(Instant now) {
    const RelayThread::Status is = relay_->status();
    const bool gets_on = is.relay.confirmed != std::exchange(confirmed_, is.relay.confirmed) ||
                         (is.relay.is_running && is.relay.under_way == 0 && is.relay.trouble.empty());
    if (is.leads && gets_on) {
        relay_patience_ = first_patience();
        given_up_.reset();
    }
    if (!is.leads || gets_on || !relay_well_) relay_well_ = now;
    if (now - *relay_well_ < relay_patience_) return false;
    given_up_ = GivenUp{now, is.relay.trouble};
    relay_well_ = now;
    relay_patience_ = std::min(2 * relay_patience_, kMostRelayPatience);
    return true;
}

void EventTransport::wake() {
    if (relay_) relay_->wake();
}

void EventTransport::stop() {
    if (relay_) relay_->stop();
}

std::optional<TransportStatus> EventTransport::status(Instant now) const {
    if (!broker_) return std::nullopt;
    TransportStatus status{broker_->name, broker_->place, false, fallback_->is_on_broker(), {}, {}, {}, {}, {}};
    const auto since = fallback_->broker_down_since();
    status.is_up = status.is_on_broker && !since;
    if (since) status.down_for = now - *since;
    status.relay_lag = fallback_->relay_lag();
    status.fault = fallback_->broker_trouble();
    status.relay = relay_->status();
    if (const auto& waiting = status.relay.relay.waiting_since) status.relay_waits = now - *waiting;
    return status;
}

std::string EventTransport::trouble(Instant now) const {
    const auto is = status(now);
    if (!is) return {};
    const std::string meanwhile =
        is->is_on_broker ? "changes of others are not seen meanwhile" : "changes are read from the database meanwhile";
    if (is->down_for == Duration{} && (!is->is_on_broker || is->relay_lag >= kRelayPatience))
        return fmt::format("{} at {} does not get what was written {} s ago{}; {}; see what is wrong with the relay at "
                           "the daemon that has that lease (ykctl mcs status)",
                           is->name, is->place, seconds_of(is->relay_lag),
                           is->relay.relay.trouble.empty() ? "" : " (" + is->relay.relay.trouble + ")", meanwhile);
    if (!is->is_up && (!is->is_on_broker || is->down_for >= kBriefly))
        return fmt::format("{} at {} has not let itself be read for {} s{}; {}", is->name, is->place,
                           seconds_of(is->down_for), is->fault.empty() ? "" : " (" + is->fault + ")", meanwhile);
    const bool was_given_up = given_up_ && (is->relay.leads || now - given_up_->at < kRelayPatience);
    if (was_given_up && is->relay.relay.trouble.empty())
        return fmt::format("the relay got nowhere at {}, and has left that to other daemons for a moment{}", is->place,
                           given_up_->why.empty() ? "" : ": " + given_up_->why);
    if (!is->relay.leads) return {};
    if (!is->relay.relay.trouble.empty())
        return fmt::format("the relay cannot send changes to {}: {}", is->place, is->relay.relay.trouble);
    if (is->relay_waits >= kRelayPatience)
        return fmt::format("{} has taken none of the relay's changes for {} s; they are sent on", is->place,
                           seconds_of(is->relay_waits));
    return {};
}

} // namespace yk::service
