#include "ykd/service/session.h"

#include "ykd/service/random_bytes.h"

namespace yk::service {
namespace {

constexpr auto kEvictableAfter = std::chrono::seconds{10}; // I-322

} // namespace

SessionPtr SessionTable::find(const wire::Sid& sid) {
    const std::lock_guard lock(mutex_);
    const auto found = sessions_.find(sid);
    if (found == sessions_.end()) return nullptr;
    if (found->second->idle() < ttl_) return found->second;
    sessions_.erase(found);
    return nullptr;
}

SessionPtr SessionTable::create(const Grant& grant, si::Role role, std::size_t remembered,
                                const std::function<bool(const Session&)>& owns) {
    const std::lock_guard lock(mutex_);
    if (sessions_.size() >= limit_) sweep_locked();
    if (sessions_.size() >= limit_ && !make_room(owns)) return nullptr;
    auto session = std::make_shared<Session>(wire::Sid(random_bytes()), grant, role, remembered);
    sessions_.emplace(session->sid, session);
    return session;
}

bool SessionTable::make_room(const std::function<bool(const Session&)>& owns) {
    auto idlest = sessions_.end();
    for (auto it = sessions_.begin(); it != sessions_.end(); ++it) {
        const Session& session = *it->second;
        if (session.idle() < kEvictableAfter || owns(session)) continue;
        if (idlest == sessions_.end() || session.idle() > idlest->second->idle()) idlest = it;
    }
    if (idlest == sessions_.end()) return false;
    sessions_.erase(idlest);
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

void SessionTable::sweep_locked() {
    std::erase_if(sessions_, [this](const auto& entry) { return entry.second->idle() >= ttl_; });
}

void SessionTable::clear() {
    std::map<wire::Sid, SessionPtr> ended; // freed outside the lock
    const std::lock_guard lock(mutex_);
    std::swap(ended, sessions_);
}

std::size_t SessionTable::size() const {
    const std::lock_guard lock(mutex_);
    return sessions_.size();
}

} // namespace yk::service
