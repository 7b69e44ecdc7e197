// SPDX-License-Identifier: Apache-2.0
#pragma once
// DaemonSettings: what flags and the settings file say (C-469). It does not change after the start; a reload reads
// `peers` and `tokens` anew and hands them to Access.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

#include "libcore/base/result.h"
#include "libcore/mcs/kinds.h"
#include "libcore/ports/budget.h"
#include "libcore/resource_state/settings.h"
#include "protocol/si/kinds.h"
#include "ykd/runtime/mailbox.h"
#include "ykd/runtime/outbound_stream.h"
#include "ykd/settings/database_settings.h"
#include "ykd/settings/event_settings.h"

namespace yk::service {

/// The pattern that every resource manager's id fits.
inline constexpr const char* kEveryRm = "*";

/// One entry of `peers`: what a user or a group of this machine may do over ipc (I-340, I-343).
struct PeerRule {
    std::optional<uid_t> uid;
    std::optional<gid_t> gid;
    si::Role role = si::Role::Observer;
    std::string rms = kEveryRm; // glob; limits the role rm alone
};

/// The section `mcs.local`: whether this daemon runs the commands of replicas that are placed on nodes of kind `local`,
/// and whose (docs/security.md, Commands of deployments).
struct LocalWorkSettings {
    bool enabled = false;
    std::vector<std::string> users;           // who may have commands run: accounts, or identities such as `uid 1000`
    std::vector<std::string> queues;          // from where: each with all that is below it
    std::string run_as;                       // the account of all commands; empty: that of whoever gave the command
    std::uint64_t max_commands = 1000;        // that run at once
    Duration grace = std::chrono::seconds{5}; // between SIGTERM and SIGKILL
};

/// The section `mcs`: whether this daemon keeps Deployments, in which database, and how many (section 20 of
/// docs/spec/resource-state.md).
struct McsSettings {
    bool enabled = false;
    DatabaseSettings db;

    // Several daemons of one machine may share a database: leases say who writes.
    bool lease_enabled = true; // false: this daemon has the database for itself alone (rs R-145)
    Duration lease_ttl = std::chrono::seconds{15};

    EventSettings events; // how changes get to the memory of each daemon

    Duration log_retention = std::chrono::hours{24};
    std::uint64_t log_max_rows = 10'000'000;
    rs::Settings framework; // pauses, sizes and limits of what follows the database
    Duration autoscaler_period = std::chrono::seconds{15};
    Duration autoscaler_reconcile_period = std::chrono::seconds{60};
    std::vector<std::string> metrics_allowed_hosts; // HOST or HOST:PORT; of others no page of metrics is fetched
    std::string rm_id = "mcs";                      // as which Deployments are placed
    Duration scheduler_reconcile_period = std::chrono::seconds{60};
    std::uint64_t max_unwritten = 10'000; // placements, beyond which nothing more is asked for (rs R-130)
    mcs::DeleteMode delete_mode = mcs::DeleteMode::Cascade; // of Deployments that name none
    LocalWorkSettings local;

    // What a client can make grow.
    std::uint64_t max_deployments = 100'000;
    std::uint64_t max_replicas = 10'000;              // of one Deployment
    std::uint64_t max_deployment_size = 16ULL * 1024; // bytes of its texts together
};

/// The section `http`: where the REST interface and metrics are answered (interface.md 5.4).
struct HttpSettings {
    std::string address;                 // HOST:PORT; empty: nowhere
    std::string tls_cert, tls_key;       // PEM; both empty: no TLS
    std::string web_root;                // folder of web pages that are sent, too; empty: none
    std::vector<std::string> origins;    // of pages in browsers that may read; empty: all
    std::uint64_t max_connections = 128; // each has a thread
};

/// The section `audit`: who changed what.
struct AuditSettings {
    std::string file;                    // empty: audit.jsonl in the state directory, if there is one; `none`: none
    std::uint64_t max_bytes = 16U << 20; // of a file, beyond which the next one begins
    std::uint64_t files = 5;             // with the one that is written
};

struct DaemonSettings {
    // Files
    std::map<std::string, std::string> config_files; // policy group -> file
    std::string default_config_file;                 // of every other policy group; empty: the built-in default
    std::string settings_file;                       // the file that was read; empty: none
    std::string state_directory;                     // for the files of SIGUSR1; empty: none
    std::string record_directory;                    // where recordings are written; empty: nothing is recorded

    // Access
    std::vector<std::string> listen;
    mode_t socket_mode = 0600;
    std::string socket_group;
    std::string tokens_file;
    std::string tls_cert, tls_key, tls_client_ca;
    bool allow_plaintext = false;
    std::vector<PeerRule> peers;
    std::set<std::string> require_recovery; // rmIDs that must register with recovery (I-210)
    std::set<std::string> known_rms;        // rmIDs that are New until they register (I-262); those above among them

    // How it runs
    bool manual_schedule = false;
    bool virtual_clock = false;
    bool reservations_disabled = false; // DISABLE_RESERVATION
    bool watch_config = false;
    bool legacy_queue_metrics = false;               // one metrics family per queue path, too (I-508)
    bool legacy_labels = false;                      // no labels `partition` and `rm` (I-511)
    bool summary_json = false;                       // application summaries as JSON (I-721)
    std::map<std::string, std::string> extra_config; // in force until an RM sends its own
    std::string log_level;                           // of the flag; empty: extraConfig decides
    std::string log_target = "auto";
    std::string pid_file;
    std::optional<int> ready_fd; // an open descriptor that gets a line when the daemon listens

    // Limits (docs/spec/interface.md, appendix A)
    std::uint32_t max_message = 16U << 20;        // bytes
    std::uint64_t max_connections = 4096;         // of each listener
    std::uint64_t max_in_flight = 64;             // requests of one connection
    std::uint64_t max_reply_bytes = 256U << 20;   // replies waiting to be read, of all connections
    std::uint64_t max_request_bytes = 512U << 20; // requests in flight, of all connections
    std::uint64_t max_memory = 0;                 // of the process; 0: default_memory_limit()
    Duration send_timeout = std::chrono::seconds{30};
    Duration request_ttl = std::chrono::seconds{10};
    Duration max_poll_wait = std::chrono::seconds{30};
    std::uint64_t max_sessions = 256;
    std::uint64_t max_rms = 64; // each has a thread
    std::uint64_t reply_memory = 16;
    StreamLimits outbound;
    MailboxLimits inbound;
    Duration liveness_timeout = std::chrono::seconds{30};
    Duration session_ttl = std::chrono::seconds{300};
    Duration rm_retention = std::chrono::hours{24};
    Duration shutdown_grace = std::chrono::seconds{5};
    Duration predicate_timeout = std::chrono::seconds{2}; // of a call to an RM (I-376)
    Duration preemption_timeout = std::chrono::seconds{5};
    std::uint64_t predicate_batch = 16;                    // nodes in one call (I-377)
    std::uint64_t max_calls = 1024;                        // of one RM in flight (I-378)
    Duration recovery_timeout = std::chrono::seconds{600}; // of a recovery whose registration names none (I-212)
    Duration recovery_idle_timeout = std::chrono::seconds{120};
    std::uint64_t recovery_max_attempts = 5; // comparisons before a recovery has failed (I-239)
    Budget rm_max;                           // of each RM
    std::uint64_t history_size = 1440;       // samples; 0: no history (I-702)
    Duration history_interval = std::chrono::minutes{1};

    AuditSettings audit;
    HttpSettings http;
    McsSettings mcs; // Deployments
};

/// Where audit records are written; empty: nowhere.
[[nodiscard]] std::string audit_file(const DaemonSettings& settings);

/// All faults of a settings file, in the order of the file; their `where` is `file:line:column`.
struct SettingsFaults {
    std::vector<Error> all; // not empty

    /// The first fault, and how many others there are. REQUIRES: there is one.
    [[nodiscard]] std::string text() const;
};

/// Reads a settings file into `settings`; keys that it does not have stay as they are.
[[nodiscard]] Result<void, SettingsFaults> read_settings(const std::string& path, DaemonSettings& settings);
/// As read_settings(), from text.
[[nodiscard]] Result<void, SettingsFaults> parse_settings(std::string_view text, const std::string& path,
                                                          DaemonSettings& settings);

/// Parses a number of bytes, plain or with `KiB`, `MiB` or `GiB`.
[[nodiscard]] Result<std::uint64_t> parse_size(std::string_view text);

} // namespace yk::service
