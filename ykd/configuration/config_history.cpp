// SPDX-License-Identifier: Apache-2.0
#include "ykd/configuration/config_history.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace yk::service {
namespace {

std::size_t bytes_of(const std::deque<AcceptedConfig>& list) {
    return std::accumulate(list.begin(), list.end(), std::size_t{0},
                           [](std::size_t sum, const AcceptedConfig& one) { return sum + one.text->size(); });
}

bool begins(const std::string& checksum, const std::string& prefix) {
    const auto same = [](unsigned char a, unsigned char b) { return std::toupper(a) == std::toupper(b); };
    return prefix.size() <= checksum.size() && std::equal(prefix.begin(), prefix.end(), checksum.begin(), same);
}

} // namespace

books::KeptConfiguration kept_form(const AcceptedConfig& accepted) {
    return {accepted.at.ns, accepted.checksum, accepted.origin, *accepted.text};
}

void ConfigHistory::keep(const std::string& rm_id, AcceptedConfig accepted) {
    const std::lock_guard lock(mutex_);
    auto& list = by_rm_[rm_id];
    if (!list.empty() && list.back().checksum == accepted.checksum) return;
    list.push_back(std::move(accepted));
    while (list.size() > kEntries || (list.size() > 2 && bytes_of(list) > kMaxBytes)) list.pop_front();
}

void ConfigHistory::forget(const std::string& rm_id) {
    const std::lock_guard lock(mutex_);
    by_rm_.erase(rm_id);
}

std::vector<AcceptedConfig> ConfigHistory::of(const std::string& rm_id) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_rm_.find(rm_id);
    if (found == by_rm_.end()) return {};
    return {found->second.begin(), found->second.end()};
}

std::optional<AcceptedConfig> ConfigHistory::find(const std::string& rm_id, const std::string& prefix) const {
    const auto list = of(rm_id);
    const auto found = std::find_if(list.rbegin(), list.rend(),
                                    [&](const AcceptedConfig& one) { return begins(one.checksum, prefix); });
    if (found == list.rend()) return std::nullopt;
    return *found;
}

} // namespace yk::service
