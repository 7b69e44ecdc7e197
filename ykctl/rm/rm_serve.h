// SPDX-License-Identifier: Apache-2.0
#pragma once
// Registers fake RMs; and `rm serve`, an RM that polls.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libcore/config_yaml/load.h"
#include "ykctl/client/context.h"
#include "ykctl/rm/recovery.h"
#include "ykctl/work/served_work.h"

namespace yk::cli {

struct RegisterOptions {
    std::string id;
    std::string policy_group = "default";
    std::optional<std::string> config_file;
    std::vector<std::string> extra;
    bool confirm = true;
    std::int64_t keep = 10000;      // of a detached RM
    bool force = false;             // drop the objects that the RM has
    bool if_not_registered = false; // change nothing if the RM is registered already
    RecoveryOptions recovery;
};

/// The request without `detached` and capabilities. A configuration file that is empty (I-058) or that the
/// daemon would refuse for its text is refused here. `if_registered`: what is done with an RM that is registered
/// already, unless an option decides that.
[[nodiscard]] Answer<si::RegisterResourceManagerRequest> registration(Context& context, const RegisterOptions& options,
                                                                      const char* if_registered);

/// The failure of a registration, with the ways out when it was refused because the RM has objects.
[[nodiscard]] Failure not_registered(Failure failure, const RegisterOptions& options);

/// The name of the configuration file for messages; empty when none was sent.
[[nodiscard]] std::string shown_config(const RegisterOptions& options);

/// The text of a configuration file. An empty file is an error, with `hints` as the way out.
[[nodiscard]] Answer<std::string> read_configuration(Context& context, const std::string& path,
                                                     std::vector<std::string> hints = {});

/// A problem of a configuration as `{line, column, path, message, severity}`.
[[nodiscard]] wire::Value problem_value(const config_yaml::Problem& problem);

struct ServeOptions {
    RegisterOptions registration;
    std::optional<std::int64_t> count; // the number of messages after which it stops
    std::vector<std::string> refuse;   // globs of nodes to refuse; when not empty it answers predicate calls
    std::string config_store;          // the file for configurations that others give the RM (I-184)
    std::string state_dump;            // the file with its state for full dumps (I-435)
    std::string state;                 // the file with the RM's books (I-269); empty: none are kept
    WorkOptions work;                  // commands and hooks of allocations
};

/// Registers, then polls and prints each message until a signal comes (SIGINT: exit 130, SIGTERM: 0) or `count` is
/// reached. With `refuse` it is asked about nodes (4.9) and refuses those that a glob matches. If files are given for
/// that, it stores configurations and reports its state. Confirms releases of type PREEMPTED_BY_SCHEDULER, TIMEOUT and
/// PLACEHOLDER_REPLACED with the same type (I-033). It comes back by itself after a restart of the daemon, a lost
/// connection or a broken stream; with `state` the RM has then what it had. With `work` it runs commands and hooks for
/// allocations: then it confirms when they have ended, and ends them before it ends itself.
[[nodiscard]] Outcome serve(Context& context, const ServeOptions& options);

} // namespace yk::cli
