// SPDX-License-Identifier: Apache-2.0
#include "protocol/server/transport_budget.h"

#include <algorithm>

namespace yk::wire {

// --- requests -----------------------------------------------------------------------------------

std::shared_ptr<TransportBudget::Share> TransportBudget::share_of(const std::string& identity) {
    const std::lock_guard lock(shares_mutex_);
    std::weak_ptr<Share>& known = shares_[identity];
    if (auto share = known.lock()) return share;
    auto share = std::make_shared<Share>();
    known = share;
    if (shares_.size() > 2 * swept_ + 64) {
        std::erase_if(shares_, [](const auto& one) { return one.second.expired(); });
        swept_ = shares_.size();
    }
    return share;
}

std::size_t TransportBudget::shares() const {
    const std::lock_guard lock(shares_mutex_);
    return shares_.size();
}

TransportBudget::Charge::~Charge() {
    if (budget_ != nullptr) budget_->take(*this);
}

void TransportBudget::Charge::swap(Charge& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(share_, other.share_);
    std::swap(bytes_, other.bytes_);
    std::swap(kind_, other.kind_);
}

TransportBudget::Charge TransportBudget::count_small(std::uint64_t bytes, Share& own) noexcept {
    own.small.fetch_add(bytes, std::memory_order_relaxed);
    total_.small.fetch_add(bytes, std::memory_order_relaxed);
    return {*this, own, bytes, Charge::Kind::Small};
}

/// Whether a large request may begin. The first one always may: a limit below the size of a message would otherwise
/// keep that message out for ever.
bool TransportBudget::may_begin(std::uint64_t bytes, const Share& own, bool is_trusted) const noexcept {
    const auto fits = [bytes](std::uint64_t held, std::uint64_t all, std::uint64_t most) {
        return all == 0 || all + held + bytes <= most; // it leaves as much free as it will hold
    };
    return fits(own.large, total_.large, most_requests) &&
           (is_trusted || fits(own.untrusted, total_.untrusted, most_requests / 4));
}

std::optional<TransportBudget::Charge> TransportBudget::admit_large(std::uint64_t bytes, Share& own, bool is_trusted) {
    const std::lock_guard lock(large_mutex_);
    if (!may_begin(bytes, own, is_trusted)) return std::nullopt;
    for (Share* share : {&own, &total_}) {
        share->large += bytes;
        share->untrusted += is_trusted ? 0 : bytes;
    }
    return Charge(*this, own, bytes, is_trusted ? Charge::Kind::Large : Charge::Kind::UntrustedLarge);
}

std::uint64_t TransportBudget::requests() const {
    const std::lock_guard lock(large_mutex_);
    return total_.small.load(std::memory_order_relaxed) + total_.large;
}

void TransportBudget::take(const Charge& charge) noexcept {
    if (charge.kind_ == Charge::Kind::Small) {
        charge.share_->small.fetch_sub(charge.bytes_, std::memory_order_relaxed);
        total_.small.fetch_sub(charge.bytes_, std::memory_order_relaxed);
        return;
    }
    const std::lock_guard lock(large_mutex_);
    for (Share* share : {charge.share_, &total_}) {
        share->large -= charge.bytes_;
        share->untrusted -= charge.kind_ == Charge::Kind::UntrustedLarge ? charge.bytes_ : 0;
    }
}

// --- replies ------------------------------------------------------------------------------------

void TransportBudget::know(const void* server, List list) {
    const std::lock_guard lock(relief_);
    servers_[server] = std::move(list);
}

void TransportBudget::forget(const void* server) {
    const std::lock_guard lock(relief_);
    servers_.erase(server);
}

namespace {

constexpr std::uint32_t kFresh = 4; // ticks in which a reply counts as being on its way

/// What waits for one identity.
struct Holder {
    std::uint64_t bytes = 0;
    std::vector<TransportBudget::Waiting> waiting;

    void sort() {
        // Fresh replies come first, since their peer may be reading them; the worst connection is the last.
        const auto weight = [](const auto& one) {
            return std::pair{one.ticks > kFresh, one.bytes * (1ULL + one.ticks)};
        };
        std::sort(waiting.begin(), waiting.end(), [&](const auto& a, const auto& b) { return weight(a) < weight(b); });
    }
};

} // namespace

void TransportBudget::relieve() {
    const std::lock_guard lock(relief_);
    if (replies.load(std::memory_order_relaxed) <= most_replies) return; // another thread was faster
    std::vector<Waiting> all;
    for (const auto& [server, list] : servers_) list(all);
    std::map<std::string, Holder> holders;
    for (Waiting& one : all) {
        Holder& holder = holders[one.holder->identity()];
        holder.bytes += one.bytes;
        holder.waiting.push_back(std::move(one));
    }
    for (auto& [identity, holder] : holders) holder.sort();
    const std::uint64_t enough = most_replies - most_replies / 8;
    while (!holders.empty() && replies.load(std::memory_order_relaxed) > enough) {
        const auto most = std::max_element(holders.begin(), holders.end(), [](const auto& a, const auto& b) {
            return a.second.bytes < b.second.bytes;
        });
        const Waiting worst = std::move(most->second.waiting.back());
        most->second.waiting.pop_back();
        most->second.bytes -= worst.bytes;
        if (most->second.waiting.empty()) holders.erase(most);
        worst.holder->end("it does not read its replies, and they fill the memory for replies");
    }
}

} // namespace yk::wire
