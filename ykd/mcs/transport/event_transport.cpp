// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/transport/event_transport.h"

#include <fmt/format.h>

#include <utility>

#include "ykd/mcs/transport/mcs_clock.h"

namespace yk::service {
namespace {

/// A connection that is lost and comes back is no trouble.
constexpr Duration kBriefly = std::chrono::seconds{3};
/// A relay whose broker says nothing for so long is in trouble.
constexpr Duration kRelayPatience = std::chrono::seconds{30};

std::int64_t seconds_of(Duration duration) {
    return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

} // namespace

EventTransport::EventTransport(std::optional<BrokerEnds> broker, RelayConnections relay, rs::ChangeLog& database,
                               std::uint64_t seed)
    : broker_(std::move(broker)), connections_(std::move(relay)), database_(database) {
    if (!broker_) return;
    rs::FallbackSettings settings;
    settings.after = broker_->fallback_after;
    fallback_.emplace(*broker_->log, database_, settings, steady_instant);
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

void EventTransport::wake() {
    if (relay_) relay_->wake();
}

void EventTransport::stop() {
    if (relay_) relay_->stop();
}

std::optional<TransportStatus> EventTransport::status(Instant now) const {
    if (!broker_) return std::nullopt;
    TransportStatus status{broker_->name, broker_->place, false, fallback_->is_on_broker(), {}, {}, {}, {}};
    const auto since = fallback_->broker_down_since();
    status.is_up = status.is_on_broker && !since;
    if (since) status.down_for = now - *since;
    status.fault = fallback_->broker_trouble();
    status.relay = relay_->status();
    if (const auto& waiting = status.relay.relay.waiting_since) status.relay_waits = now - *waiting;
    return status;
}

std::string EventTransport::trouble(Instant now) const {
    const auto is = status(now);
    if (!is) return {};
    if (!is->is_up && (!is->is_on_broker || is->down_for >= kBriefly))
        return fmt::format("{} at {} has not let itself be read for {} s{}; {}", is->name, is->place,
                           seconds_of(is->down_for), is->fault.empty() ? "" : " (" + is->fault + ")",
                           is->is_on_broker ? "changes of others are not seen meanwhile"
                                            : "changes are read from the database meanwhile");
    if (!is->relay.leads) return {};
    if (!is->relay.relay.trouble.empty())
        return fmt::format("the relay cannot send changes to {}: {}", is->place, is->relay.relay.trouble);
    if (is->relay_waits >= kRelayPatience)
        return fmt::format("{} has taken none of the relay's changes for {} s; they are sent on", is->place,
                           seconds_of(is->relay_waits));
    return {};
}

} // namespace yk::service
