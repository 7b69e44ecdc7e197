#pragma once
// Who may do what (I-340 to I-343): roles of ipc peers by uid and gid, tokens for tcp, limits on failed attempts.

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "protocol/si/kinds.h"
#include "protocol/transport/server.h"
#include "ykd/runtime/clock.h"
#include "ykd/service/daemon_settings.h"
#include "ykd/service/minute_counter.h"
#include "ykd/service/peer_groups.h"

namespace yk::service {

/// What somebody is and may do. Sessions are bound to `name` (I-323).
struct Grant {
    std::string name; // `uid 1000`, `token rm spark-* (1a2b3c4d)`, `certificate`
    si::Role role = si::Role::Observer;
    std::string rms; // glob: the RMs that role rm may register and update
};

/// A shell glob that the whole of `text` must match.
[[nodiscard]] bool matches(const std::string& glob, const std::string& text);

/// Lines `role pattern sha256hex`, `#` comments. The error's `where` is `file:line`.
struct TokenRule {
    si::Role role = si::Role::Observer;
    std::string rms;
    std::string digest; // upper case
};
[[nodiscard]] Result<std::vector<TokenRule>> parse_tokens(std::string_view text, const std::string& path);
/// The file must belong to the daemon's user and be closed to everybody else.
[[nodiscard]] Result<std::vector<TokenRule>> read_tokens(const std::string& path);

/// Why somebody is not let in. `cut`: the connection is to be closed, too (I-342).
struct AuthRefusal {
    std::string message;
    bool cut = false;
};

/// Thread: any.
class Access {
public:
    /// `later`: see PeerGroups.
    explicit Access(
        const DaemonSettings& settings, PeerGroups::Later later = [](const auto& ask) { ask(); });
    /// New `peers` and tokens (SIGHUP).
    void set_rules(std::vector<PeerRule> peers, std::vector<TokenRule> tokens);

    /// Whether a connection may be made at all (I-340); the daemon's user and root get in when others no longer do.
    [[nodiscard]] wire::Admittance admits(const wire::Peer& peer) const;
    /// What the peer is granted with this token (may be empty). An error: E_AUTH. After five wrong tokens of an address
    /// within a minute no further one is compared, the right one neither: else the limit would be none for who sends
    /// guesses without waiting for answers, or over connection after connection (A7).
    [[nodiscard]] Result<Grant, AuthRefusal> authenticate(const wire::Peer& peer, const std::string& token);

private:
    /// Of the users of this machine that are neither the daemon's nor root.
    [[nodiscard]] bool is_let_in(const wire::Peer& peer) const;
    [[nodiscard]] bool is_owner(const wire::Peer& peer) const { return peer.uid == own_uid_ || peer.uid == 0; }
    /// Without any nobody's groups are of interest, and nobody waits for the name service.
    [[nodiscard]] bool has_rules_for_groups() const;
    // REQUIRES: mutex_ held
    [[nodiscard]] std::optional<Grant> rule_of(const wire::Peer& peer, const std::vector<gid_t>& groups) const;
    [[nodiscard]] Result<Grant> judge(const wire::Peer& peer, const std::string& token,
                                      const std::vector<gid_t>& groups) const;
    [[nodiscard]] const TokenRule* find_token(const std::string& token) const;

    const uid_t own_uid_;
    const std::optional<gid_t> socket_group_; // of its socket
    const mode_t socket_mode_;
    const bool client_certificates_; // tls peers have shown one
    mutable PeerGroups groups_;
    mutable std::mutex mutex_; // not held while groups are looked up
    std::vector<PeerRule> peers_;
    std::vector<TokenRule> tokens_;
    MinuteCounter failures_; // by address
    MinuteCounter guesses_;  // those of them with a wrong token
};

/// What is known of open connections: whose they are (I-323), how often they sent garbage (I-310). Thread: any.
class Connections {
public:
    /// The identity of a tcp connection: of its last Hello, before one of the first session it uses.
    void set_identity(const wire::Peer& peer, const std::string& name);
    /// True when `name` is the connection's identity, which it becomes if there is none yet.
    [[nodiscard]] bool claim_identity(const wire::Peer& peer, const std::string& name);
    /// Counts an E_DECODE; true: the tenth within a minute, close the connection.
    [[nodiscard]] bool count_garbage(const wire::Peer& peer);
    void closed(std::uint32_t connection);
    /// Connections of which something is known.
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
