#pragma once
// ConfigChange: the one way by which a running RM gets another configuration. A text that was read and is good takes
// its turn in the RM's order, is stored by the RM if that wants it (I-184), applied, remembered, logged and reported.
// UpdateConfiguration, its dry run and the reload of files (reload.h) all go it.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/config_yaml/load.h"
#include "protocol/wire/envelope.h"
#include "ykd/service/config_files.h"
#include "ykd/service/config_preview.h"

namespace yk::service {

/// A text that was loaded, and where it came from. Cheap to copy.
struct Candidate {
    std::shared_ptr<const config_yaml::LoadOutcome> outcome;
    std::shared_ptr<const std::string> text;
    std::string origin;     // for people: `file /etc/ykd/queues.yaml`, `request of uid 0`
    bool from_file = false; // the daemon's own: a reload reads it again

    [[nodiscard]] bool good() const { return outcome->configuration.has_value(); }
    /// REQUIRES: good().
    [[nodiscard]] ConfigurationPtr configuration() const { return {outcome, &*outcome->configuration}; }
    /// The first problem with its place, and how many others there are. REQUIRES: !good().
    [[nodiscard]] std::string refusal() const;
};

/// What somebody sent; empty: the built-in default (I-058). `source` names it in messages.
[[nodiscard]] Candidate sent_candidate(std::string text, std::string_view source, std::string origin);
/// One of the daemon's files. An empty one holds no partition and is refused when it is applied (C-009).
[[nodiscard]] Candidate file_candidate(ConfigText file);

/// How a change ended.
struct ChangeOutcome {
    std::optional<wire::ErrorReply> refusal; // none: it is active, or would be
    bool rm_left = false;                    // refused because there is no such RM any more
    bool changed = false;
    ConfigurationPtr wanted; // with the names that the partitions keep (C-030)
    Preview preview;         // of a dry run
};

struct ConfigChange {
    RmPtr rm;
    std::uint64_t epoch; // of the registration that is to change: another one's configuration is let be
    Candidate candidate;
    std::string policy_group;                                         // the RM's from now on; empty: as it was
    std::optional<std::map<std::string, std::string>> extra_config{}; // applied together with it
    bool stored_already = false;                                      // by the RM, which sends it
    bool dry_run = false;                                             // nothing is changed; the outcome has a preview
    std::function<void(const ChangeOutcome&)> done;                   // once, on a worker or the RM's owner thread
};

/// Goes the way; any thread. REQUIRES: change.candidate.good().
void begin_change(Daemon& daemon, ConfigChange change);

/// Notes and logs that the RM keeps what it has; `candidate` was not good.
void refuse_candidate(Rm& rm, const Candidate& candidate);
/// As above, of any reason, without the log.
void note_refusal(Rm& rm, const std::string& why);

/// What changes, for people: of the running configuration and `wanted`.
[[nodiscard]] wire::Value changes_of(const Rm& rm, const config::Configuration& wanted, const Preview& preview);

} // namespace yk::service
