// SPDX-License-Identifier: Apache-2.0
#include "ykd/session/access.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "libcore/config/checksum.h"

namespace yk::service {
namespace {

// After so many within a minute the connection is closed (I-342, I-310).
constexpr std::size_t kFailuresPerMinute = 5;
constexpr std::size_t kGarbagePerMinute = 10;
constexpr std::size_t kDigestLength = 64;

std::string upper(std::string text) {
    for (char& c : text)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return text;
}

bool is_hex(const std::string& text) {
    return text.find_first_not_of("0123456789ABCDEF") == std::string::npos;
}

/// Compares every byte, so that the time it takes does not show where the first difference is.
bool equal_in_constant_time(const std::string& a, const std::string& b) {
    if (a.size() != b.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
    return difference == 0;
}

bool contains(const std::vector<gid_t>& groups, gid_t gid) {
    return std::find(groups.begin(), groups.end(), gid) != groups.end();
}

/// The id of a group, of the daemon's own for an empty name; nullopt: there is no such group.
std::optional<gid_t> id_of_group(const std::string& name) {
    if (name.empty()) return ::getegid();
    std::array<char, 16384> buffer{};
    ::group entry{};
    ::group* found = nullptr;
    const int fault = ::getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
    return fault != 0 || found == nullptr ? std::nullopt : std::optional{entry.gr_gid};
}

} // namespace

bool matches(const std::string& glob, const std::string& text) {
    return ::fnmatch(glob.c_str(), text.c_str(), 0) == 0;
}

// --- tokens -------------------------------------------------------------------------------------

Result<std::vector<TokenRule>> parse_tokens(std::string_view text, const std::string& path) {
    std::vector<TokenRule> rules;
    std::istringstream lines{std::string(text)};
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (const std::size_t comment = line.find('#'); comment != std::string::npos) line.resize(comment);
        std::istringstream words(line);
        std::string role_text, pattern, digest, more;
        if (!(words >> role_text)) continue;
        const auto role = si::find_role(role_text);
        const bool complete = static_cast<bool>(words >> pattern >> digest) && !(words >> more);
        digest = upper(digest);
        if (!role || !complete || digest.size() != kDigestLength || !is_hex(digest))
            return Error::at(fmt::format("{}:{}", path, number),
                             "a token line is `role pattern sha256hex`, role being observer, rm or admin");
        if (*role == si::Role::Admin && pattern != kEveryRm)
            return Error::at(fmt::format("{}:{}", path, number),
                             fmt::format("an admin may do everything, whatever the pattern: write `admin {} ...`, or "
                                         "role rm for the resource managers {}",
                                         kEveryRm, pattern));
        rules.push_back({*role, pattern, digest});
    }
    return rules;
}

Result<std::vector<TokenRule>> read_tokens(const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0)
        return Error::at(path, fmt::format("cannot read the token file: {}", std::strerror(errno)));
    if (info.st_uid != ::geteuid() || (info.st_mode & 077U) != 0)
        return Error::at(path, "the token file must belong to the daemon's user and be closed to others (chmod 600)");
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) return Error::at(path, "cannot read the token file");
    return parse_tokens(text.str(), path);
}

// --- Access -------------------------------------------------------------------------------------

Access::Access(const DaemonSettings& settings, PeerGroups::Later later)
    : own_uid_(::geteuid()),
      socket_group_(id_of_group(settings.socket_group)),
      socket_mode_(settings.socket_mode),
      client_certificates_(!settings.tls_client_ca.empty()),
      groups_(std::move(later)),
      peers_(settings.peers) {}

void Access::set_rules(std::vector<PeerRule> peers, std::vector<TokenRule> tokens) {
    const std::lock_guard lock(mutex_);
    peers_ = std::move(peers);
    tokens_ = std::move(tokens);
    groups_.doubt(); // a reload also notices changed groups
}

bool Access::has_rules_for_groups() const {
    const std::lock_guard lock(mutex_);
    return std::any_of(peers_.begin(), peers_.end(), [](const PeerRule& rule) { return rule.gid.has_value(); });
}

std::optional<Grant> Access::rule_of(const wire::Peer& peer, const std::vector<gid_t>& groups) const {
    std::optional<Grant> best;
    for (const PeerRule& rule : peers_) {
        const bool meant = rule.uid ? *rule.uid == peer.uid : contains(groups, *rule.gid);
        if (meant && (!best || rule.role > best->role)) best = Grant{peer.address, rule.role, rule.rms};
    }
    return best;
}

wire::Admittance Access::admits(const wire::Peer& peer) const {
    using wire::Admittance;
    if (peer.transport != wire::Peer::Transport::Ipc) return Admittance::Ordinary;
    if (is_owner(peer)) return Admittance::Privileged;
    return is_let_in(peer) ? Admittance::Ordinary : Admittance::Refused;
}

bool Access::is_let_in(const wire::Peer& peer) const {
    const bool all_may = (socket_mode_ & 0006U) != 0, group_may = (socket_mode_ & 0060U) != 0 && socket_group_;
    std::vector<gid_t> groups{peer.gid};
    // Also when only Hello needs them, so that Hello does not wait for the name service.
    if ((group_may && !all_may) || has_rules_for_groups()) groups = groups_.of(peer.uid, peer.gid, SteadyClock::now());
    if (all_may || (group_may && contains(groups, *socket_group_))) return true;
    const std::lock_guard lock(mutex_);
    return rule_of(peer, groups).has_value();
}

const TokenRule* Access::find_token(const std::string& token) const {
    const std::string digest = config::checksum(token);
    const TokenRule* found = nullptr;
    for (const TokenRule& rule : tokens_)
        if (equal_in_constant_time(rule.digest, digest)) found = &rule;
    return found;
}

Result<Grant, AuthRefusal> Access::authenticate(const wire::Peer& peer, const std::string& token) {
    std::vector<gid_t> groups{peer.gid};
    if (peer.transport == wire::Peer::Transport::Ipc && !is_owner(peer) && has_rules_for_groups())
        groups = groups_.of(peer.uid, peer.gid, SteadyClock::now());
    const std::lock_guard lock(mutex_);
    if (!token.empty() && guesses_.count(peer.address) >= kFailuresPerMinute)
        return AuthRefusal{
            fmt::format("{} wrong tokens came from {} within a minute: no other is looked at until it is "
                        "over",
                        kFailuresPerMinute, peer.address),
            true};
    auto grant = judge(peer, token, groups);
    if (grant.ok()) return std::move(grant).value();
    if (!token.empty()) guesses_.note(peer.address);
    return AuthRefusal{grant.error().message, failures_.note(peer.address) >= kFailuresPerMinute};
}

Result<Grant> Access::judge(const wire::Peer& peer, const std::string& token, const std::vector<gid_t>& groups) const {
    using Transport = wire::Peer::Transport;
    Grant grant{peer.address, si::Role::Observer, "*"};
    if (peer.transport == Transport::Ipc) {
        if (is_owner(peer)) {
            grant.role = si::Role::Admin;
        } else if (const auto rule = rule_of(peer, groups)) {
            grant = *rule;
        }
    }
    if (token.empty()) {
        const bool anonymous =
            peer.transport == Transport::Tcp || (peer.transport == Transport::Tls && !client_certificates_);
        if (anonymous) return Error::of("a token is required over tcp");
        if (peer.transport == Transport::Tls) grant.name = "certificate from " + peer.address;
        return grant;
    }
    const TokenRule* rule = find_token(token);
    if (rule == nullptr) return Error::of("the token is not known here");
    if (peer.transport == Transport::Ipc && rule->role <= grant.role) return grant; // a token may only raise
    const std::string who = peer.transport == Transport::Ipc ? peer.address
                                                             : fmt::format("token {} {} ({})", si::text(rule->role),
                                                                           rule->rms, rule->digest.substr(0, 8));
    return Grant{who, rule->role, rule->rms};
}

// --- Connections --------------------------------------------------------------------------------

void Connections::set_identity(const wire::Peer& peer, const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (!peer.is_gone()) facts_[peer.connection].identity = name;
}

bool Connections::claim_identity(const wire::Peer& peer, const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (peer.is_gone()) return true; // the answer reaches nobody
    std::string& identity = facts_[peer.connection].identity;
    if (identity.empty()) identity = name;
    return identity == name;
}

bool Connections::count_garbage(const wire::Peer& peer) {
    const std::lock_guard lock(mutex_);
    return peer.is_gone() || facts_[peer.connection].garbage.note() >= kGarbagePerMinute;
}

void Connections::closed(std::uint32_t connection) {
    const std::lock_guard lock(mutex_);
    facts_.erase(connection);
}

} // namespace yk::service
