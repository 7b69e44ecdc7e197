// SPDX-License-Identifier: Apache-2.0
#include "ykd/session/session.h"

#include <algorithm>
#include <utility>

#include "ykd/process/random_bytes.h"

namespace yk::service {
namespace {

constexpr auto kEvictableAfter = std::chrono::seconds{10}; // a connected session must be idle so long (I-322)
constexpr auto kLongestLook = std::chrono::seconds{3};     // between two looks at the table, when the process runs

} // namespace

// --- Session ------------------------------------------------------------------------------------

void Session::used_over(const std::shared_ptr<const wire::Peer>& peer) {
    if (last_connection_.load(std::memory_order_relaxed) == peer->connection) return;
    last_connection_.store(peer->connection, std::memory_order_relaxed);
    const std::lock_guard lock(connections_mutex_);
    std::erase_if(connections_, [](const auto& one) { return one.expired(); });
    const bool known = std::any_of(connections_.begin(), connections_.end(), [&](const auto& one) {
        const auto open = one.lock();
        return open && open->connection == peer->connection;
    });
    if (!known) connections_.push_back(peer);
}

bool Session::is_connected() const {
    const std::lock_guard lock(connections_mutex_);
    return std::any_of(connections_.begin(), connections_.end(), [](const auto& one) { return !one.expired(); });
}

// --- SessionTable -------------------------------------------------------------------------------

SessionPtr SessionTable::find(const wire::Sid& sid) {
    const std::lock_guard lock(mutex_);
    forgive_pause_locked();
    const auto found = sessions_.find(sid);
    if (found == sessions_.end()) return nullptr;
    if (found->second->idle() < ttl_) return found->second;
    sessions_.erase(found);
    return nullptr;
}

Result<SessionPtr> SessionTable::create(const Grant& grant, si::Role role, std::size_t remembered,
                                        const std::shared_ptr<const wire::Peer>& peer,
                                        const std::function<std::set<wire::Sid>()>& owners) {
    auto session = std::make_shared<Session>(wire::Sid(random_bytes()), grant, role, remembered);
    session->used_over(peer);
    const Claimant claimant = session->claimant();
    const std::lock_guard lock(mutex_);
    forgive_pause_locked();
    if (shortage_for(claimant) != FairLimit::Shortage::None) sweep_locked();
    if (const auto shortage = shortage_for(claimant); shortage != FairLimit::Shortage::None) {
        if (!evict(claimant, shortage, owners()))
            return Error::of(limit_.refusal(shortage, claimant, held(), "sessions"));
    }
    sessions_.emplace(session->sid, session);
    return session;
}

FairLimit::Shortage SessionTable::shortage_for(const Claimant& claimant) const {
    const auto own = std::count_if(sessions_.begin(), sessions_.end(), [&](const auto& entry) {
        const Claimant other = entry.second->claimant();
        return !other.admin && other.identity == claimant.identity;
    });
    return limit_.shortage_for(claimant, sessions_.size(), static_cast<std::size_t>(own));
}

ClaimsHeld SessionTable::held() const {
    ClaimsHeld held;
    for (const auto& [sid, session] : sessions_) ++held[session->grant.name];
    return held;
}

/// For an identity that holds its half, one of its own sessions is ended.
bool SessionTable::evict(const Claimant& claimant, FairLimit::Shortage shortage, const std::set<wire::Sid>& owners) {
    auto first = sessions_.end();
    bool first_connected = true;
    for (auto it = sessions_.begin(); it != sessions_.end(); ++it) {
        const Session& session = *it->second;
        const Claimant other = session.claimant();
        const bool own = !other.admin && other.identity == claimant.identity;
        if (owners.count(session.sid) != 0 || (shortage == FairLimit::Shortage::OfIdentity && !own)) continue;
        const bool connected = session.is_connected();
        if (connected && (!first_connected || session.idle() < kEvictableAfter)) continue;
        const bool better =
            first == sessions_.end() || (first_connected && !connected) || session.idle() > first->second->idle();
        if (!better) continue;
        first = it;
        first_connected = connected;
    }
    if (first == sessions_.end()) return false;
    sessions_.erase(first);
    return true;
}

void SessionTable::end(const wire::Sid& sid) {
    const std::lock_guard lock(mutex_);
    sessions_.erase(sid);
}

void SessionTable::sweep() {
    const std::lock_guard lock(mutex_);
    sweep_locked();
}

/// The table is swept every second: when nobody looked at it for longer, the process was stopped, and the sessions must
/// not expire for that.
void SessionTable::forgive_pause_locked() {
    const auto now = SteadyClock::now();
    const auto pause = now - std::exchange(last_look_, now) - kLongestLook;
    if (pause <= SteadyClock::duration{0}) return;
    for (const auto& [sid, session] : sessions_) session->forgive(pause);
}

void SessionTable::sweep_locked() {
    forgive_pause_locked();
    std::erase_if(sessions_, [this](const auto& entry) { return entry.second->idle() >= ttl_; });
}

void SessionTable::clear() {
    std::map<wire::Sid, SessionPtr> ended; // freed outside the lock
    const std::lock_guard lock(mutex_);
    std::swap(ended, sessions_);
}

SessionTable::Count SessionTable::count() const {
    Count count;
    const std::lock_guard lock(mutex_);
    for (const auto& [sid, session] : sessions_) ++(session->is_connected() ? count.connected : count.kept);
    return count;
}

} // namespace yk::service
