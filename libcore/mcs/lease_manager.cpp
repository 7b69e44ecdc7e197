// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/lease_manager.h"

#include <algorithm>
#include <utility>

namespace yk::mcs {

LeaseManager::LeaseManager(LeasePort& port, const LeaseSettings& settings, const std::vector<std::string>& names,
                           std::uint64_t seed, OnChange on_change)
    : port_(port), settings_(settings), chance_(seed), on_change_(std::move(on_change)), entries_(names.size()) {
    for (std::size_t at = 0; at < names.size(); ++at) entries_[at].name = names[at];
}

/// Of several that are due the one that has waited longest, so that none is forgotten for another, however seldom
/// somebody comes for calls; of equal ones a lease that is held.
std::unique_ptr<rs::IoCall> LeaseManager::next_call(Instant now) {
    owner_thread_.claim();
    const auto order_of = [](const Entry& entry) { return std::pair{entry.next, !entry.epoch}; };
    Entry* first = nullptr;
    for (Entry& entry : entries_) {
        if (entry.is_calling || now < entry.next || (is_releasing_ && !entry.epoch)) continue;
        if (first == nullptr || order_of(entry) < order_of(*first)) first = &entry;
    }
    if (first == nullptr) return nullptr;
    first->is_calling = true;
    if (is_leaving(*first)) return release_call(*first);
    if (first->epoch) return renew_call(*first, now);
    return acquire_call(*first, now);
}

void LeaseManager::turn(Instant now) {
    owner_thread_.claim();
    for (Entry& entry : entries_) {
        if (!entry.is_valid || now <= ends(entry)) continue;
        entry.is_valid = false;
        on_change_(entry.name, rs::Lease{*entry.epoch, false}, now);
    }
}

std::optional<Instant> LeaseManager::next_due() const {
    owner_thread_.assert_here();
    std::optional<Instant> due;
    const auto earliest = [&due](Instant at) { due = due ? std::min(*due, at) : at; };
    for (const Entry& entry : entries_) {
        if (entry.is_valid) earliest(ends(entry) + Duration{1});
        if (!entry.is_calling && (entry.epoch || !is_releasing_)) earliest(entry.next);
    }
    return due;
}

void LeaseManager::wake() {
    owner_thread_.claim();
    for (Entry& entry : entries_)
        if (!entry.epoch) entry.next = entry.not_before;
}

std::optional<rs::Lease> LeaseManager::lease(std::string_view name, Instant now) const {
    owner_thread_.assert_here();
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& each) { return each.name == name; });
    if (found == entries_.end() || !found->epoch || is_leaving(*found)) return std::nullopt;
    return rs::Lease{*found->epoch, now <= ends(*found)};
}

void LeaseManager::give_up(std::string_view name, Duration pause, Instant now) {
    owner_thread_.claim();
    for (Entry& entry : entries_) {
        if (entry.name != name || !entry.epoch || is_leaving(entry)) continue;
        entry.given_up = pause;
        entry.next = {};
        entry.is_valid = false;
        on_change_(entry.name, std::nullopt, now);
    }
}

void LeaseManager::release() {
    owner_thread_.claim();
    is_releasing_ = true;
    for (Entry& entry : entries_) {
        entry.next = {};
        entry.is_valid = false;
        entry.is_to_be_lost = entry.epoch && !entry.given_up;
    }
}

bool LeaseManager::is_released() const {
    owner_thread_.assert_here();
    return is_releasing_ && std::none_of(entries_.begin(), entries_.end(),
                                         [](const Entry& each) { return each.epoch || each.is_calling; });
}

// --- calls -----------------------------------------------------------------------------------------------------------

/// A call may be run long after it was handed out: what counts is the time before that, since the lease cannot be
/// older.
std::unique_ptr<rs::IoCall> LeaseManager::acquire_call(Entry& entry, Instant began) {
    const std::optional<LeaseRow> frozen = is_frozen(entry, began) ? std::optional{entry.seen} : std::nullopt;
    return rs::make_io_call(
        [&port = port_, name = entry.name, frozen]() -> AcquireAnswer {
            YK_TRY(epoch, frozen ? port.seize(name, *frozen) : port.acquire(name));
            if (epoch) return Acquired{epoch, {}};
            YK_TRY(row, port.look(name));
            return Acquired{{}, std::move(row)};
        },
        [this, &entry, began](const AcquireAnswer& answer, Instant now) { acquired(entry, answer, began, now); });
}

std::unique_ptr<rs::IoCall> LeaseManager::renew_call(Entry& entry, Instant began) {
    return rs::make_io_call(
        [&port = port_, name = entry.name, epoch = *entry.epoch] { return port.renew(name, epoch); },
        [this, &entry, began](const Result<bool, rs::StoreError>& answer, Instant now) {
            renewed(entry, answer, began, now);
        });
}

/// If that fails the lease runs out by itself.
std::unique_ptr<rs::IoCall> LeaseManager::release_call(Entry& entry) {
    return rs::make_io_call(
        [&port = port_, name = entry.name, epoch = *entry.epoch] { return port.release(name, epoch); },
        [this, &entry](const Result<void, rs::StoreError>& /*answer*/, Instant now) {
            entry.is_calling = false;
            entry.epoch.reset();
            if (entry.given_up) entry.next = entry.not_before = now + *std::exchange(entry.given_up, std::nullopt);
            if (std::exchange(entry.is_to_be_lost, false)) on_change_(entry.name, std::nullopt, now);
        });
}

void LeaseManager::acquired(Entry& entry, const AcquireAnswer& answer, Instant began, Instant now) {
    owner_thread_.claim();
    entry.is_calling = false;
    pause(entry, now);
    answered(answer.ok() ? nullptr : &answer.error());
    if (!answer.ok()) return;
    if (answer.value().epoch) {
        entry.epoch = answer.value().epoch;
        return lead(entry, began, now);
    }
    if (answer.value().row) note(entry, *answer.value().row, now);
}

void LeaseManager::renewed(Entry& entry, const Result<bool, rs::StoreError>& answer, Instant began, Instant now) {
    owner_thread_.claim();
    entry.is_calling = false;
    pause(entry, now);
    answered(answer.ok() ? nullptr : &answer.error());
    if (!answer.ok()) return turn(now);
    if (*answer) return lead(entry, began, now);
    lose(entry, now);
}

/// A call that fails once is nothing: somebody has the database for a moment.
void LeaseManager::answered(const rs::StoreError* error) {
    failures_ = error == nullptr ? 0 : failures_ + 1;
    if (error == nullptr)
        fault_.clear();
    else if (failures_ > entries_.size())
        fault_ = error->message;
}

/// The database has confirmed the lease, as of `began`.
void LeaseManager::lead(Entry& entry, Instant began, Instant now) {
    entry.renewed = began;
    entry.next = is_leaving(entry) ? Instant{} : began + settings_.renew;
    if (is_leaving(entry)) return; // nobody learns of it any more
    const bool is_valid = now <= ends(entry);
    if (entry.is_valid == is_valid) return;
    entry.is_valid = is_valid;
    on_change_(entry.name, rs::Lease{*entry.epoch, is_valid}, now);
}

void LeaseManager::lose(Entry& entry, Instant now) {
    entry.epoch.reset();
    entry.is_valid = false;
    entry.seen = {};
    if (entry.given_up) entry.next = entry.not_before = now + *entry.given_up;
    if (!is_leaving(entry)) on_change_(entry.name, std::nullopt, now);
    entry.given_up.reset();
}

void LeaseManager::note(Entry& entry, const LeaseRow& row, Instant now) const {
    if (!entry.seen.is_same(row)) entry.seen_since = now;
    entry.seen = row;
}

bool LeaseManager::is_frozen(const Entry& entry, Instant now) const {
    return !entry.seen.holder.empty() && entry.seen.left > settings_.ttl + settings_.tolerance &&
           now - entry.seen_since >= settings_.ttl;
}

} // namespace yk::mcs
