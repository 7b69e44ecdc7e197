// SPDX-License-Identifier: Apache-2.0
#pragma once
// Access: who may do what (I-340 to I-343): roles of ipc peers by uid and gid, tokens for tcp, limits on failed
// attempts. Connections: what is known of open connections.

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "protocol/server/server.h"
#include "protocol/si/kinds.h"
#include "ykd/process/daemon_settings.h"
#include "ykd/process/minute_counter.h"
#include "ykd/runtime/clock.h"
#include "ykd/session/peer_groups.h"

namespace yk::service {

/// Who somebody is and what they may do. A session can only be used by the `name` that opened it (I-323).
struct Grant {
    std::string name; // `uid 1000`, `token rm spark-* (1a2b3c4d)`, `certificate`
    si::Role role = si::Role::Observer;
    std::string rms; // glob of the RMs that role rm may register and update
};

/// A shell glob that the whole of `text` must match.
[[nodiscard]] bool matches(const std::string& glob, const std::string& text);

/// One line of the token file.
struct TokenRule {
    si::Role role = si::Role::Observer;
    std::string rms;    // glob of RMs, as in Grant
    std::string digest; // SHA-256 of the token, in upper-case hexadecimal digits
};
/// Parses lines `role pattern sha256hex`, with `#` comments. The error's `where` is `file:line`.
[[nodiscard]] Result<std::vector<TokenRule>> parse_tokens(std::string_view text, const std::string& path);
/// Reads a token file, which must belong to the daemon's user and be closed to everybody else.
[[nodiscard]] Result<std::vector<TokenRule>> read_tokens(const std::string& path);

/// Why somebody is not let in. `cut`: the connection is to be closed (I-342).
struct AuthRefusal {
    std::string message;
    bool cut = false;
};

/// Decides who is let in, and with which role. Owner: Daemon. Thread: any.
class Access {
public:
    /// `later`: see PeerGroups; by default it calls at once.
    explicit Access(
        const DaemonSettings& settings, PeerGroups::Later later = [](const auto& ask) { ask(); });
    /// Replaces `peers` and tokens (SIGHUP).
    void set_rules(std::vector<PeerRule> peers, std::vector<TokenRule> tokens);

    /// Whether a connection may be made at all (I-340). The daemon's user and root are privileged: they are let in when
    /// the connections of others are at their limit. May block, see PeerGroups::of.
    [[nodiscard]] wire::Admittance admits(const wire::Peer& peer) const;
    /// What the peer is granted with this token, which may be empty. An error is to be answered with E_AUTH. After five
    /// wrong tokens from an address within a minute no further token from it is compared, not even the right one: else
    /// guesses that are sent without waiting for answers, or each over a new connection, would not be limited.
    [[nodiscard]] Result<Grant, AuthRefusal> authenticate(const wire::Peer& peer, const std::string& token);

private:
    /// Whether an ipc peer that is neither the daemon's user nor root may connect.
    [[nodiscard]] bool is_let_in(const wire::Peer& peer) const;
    [[nodiscard]] bool is_owner(const wire::Peer& peer) const { return peer.uid == own_uid_ || peer.uid == 0; }
    /// Whether a peer rule names a group. If none does, no peer's groups are looked up.
    [[nodiscard]] bool has_rules_for_groups() const;
    // The next three REQUIRE: mutex_ held.
    /// The grant of the peer rule with the highest role; nullopt: no rule is about the peer.
    [[nodiscard]] std::optional<Grant> rule_of(const wire::Peer& peer, const std::vector<gid_t>& groups) const;
    [[nodiscard]] Result<Grant> judge(const wire::Peer& peer, const std::string& token,
                                      const std::vector<gid_t>& groups) const;
    [[nodiscard]] const TokenRule* find_token(const std::string& token) const;

    const uid_t own_uid_;
    const std::optional<gid_t> socket_group_; // of the daemon's ipc socket
    const mode_t socket_mode_;
    const bool client_certificates_; // every tls peer has shown a certificate
    mutable PeerGroups groups_;
    mutable std::mutex mutex_; // guards what follows; not held while groups are looked up
    std::vector<PeerRule> peers_;
    std::vector<TokenRule> tokens_;
    MinuteCounter failures_; // refused attempts by address
    MinuteCounter guesses_;  // those of them that had a token
};

/// What is known of open connections: whose they are (I-323), and how often they sent what cannot be decoded (I-310).
/// Owner: Daemon. Thread: any.
class Connections {
public:
    /// Sets the identity of a tcp connection: that of its last Hello. Before a Hello it is that of the first session
    /// that it uses, see claim_identity().
    void set_identity(const wire::Peer& peer, const std::string& name);
    /// True when `name` is the connection's identity, which it becomes if there is none yet.
    [[nodiscard]] bool claim_identity(const wire::Peer& peer, const std::string& name);
    /// Counts an E_DECODE; true: it is the tenth within a minute, and the connection is to be closed.
    [[nodiscard]] bool count_garbage(const wire::Peer& peer);
    /// Forgets a connection that was closed.
    void closed(std::uint32_t connection);
    /// The number of connections of which something is known.
    [[nodiscard]] std::size_t size() const {
        const std::lock_guard lock(mutex_);
        return facts_.size();
    }

private:
    struct Facts {
        std::string identity;
        LastMinute garbage;
    };
    mutable std::mutex mutex_;
    std::unordered_map<std::uint32_t, Facts> facts_;
};

} // namespace yk::service
