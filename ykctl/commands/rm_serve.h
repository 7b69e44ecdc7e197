#pragma once
// Registration of fake RMs, and `rm serve`: one that polls.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libcore/config_yaml/load.h"
#include "ykctl/commands/context.h"

namespace yk::cli {

struct RegisterOptions {
    std::string id;
    std::string policy_group = "default";
    std::optional<std::string> config_file;
    std::vector<std::string> extra;
    bool confirm = true;
    std::int64_t keep = 10000;      // of a detached RM
    bool force = false;             // drop what the RM has
    bool if_not_registered = false; // leave it alone if it is there
};

/// The body of RegisterResourceManager without `detached`. A configuration file that is empty (I-058) or that the
/// daemon would refuse for its text is refused here. `if_registered`: what becomes of an RM that is there already,
/// unless the options say otherwise.
[[nodiscard]] Answer<wire::Value> registration(Context& context, const RegisterOptions& options,
                                               const char* if_registered);

/// A registration that was refused, with the ways out when the RM has something.
[[nodiscard]] Failure not_registered(Failure failure, const RegisterOptions& options);

/// The file that was sent, as messages name it; empty: none.
[[nodiscard]] std::string shown_config(const RegisterOptions& options);

/// The text of a configuration file that may be sent: not empty. `hints`: the way out when it is.
[[nodiscard]] Answer<std::string> read_configuration(Context& context, const std::string& path,
                                                     std::vector<std::string> hints = {});

/// {line, column, path, message, severity}
[[nodiscard]] wire::Value problem_value(const config_yaml::Problem& problem);

struct ServeOptions {
    RegisterOptions registration;
    std::optional<std::int64_t> count; // stop after so many messages
    std::vector<std::string> refuse;   // globs of nodes; not empty: it answers predicate calls
    std::string config_store;          // file for the configurations that others give the RM (I-184)
    std::string state_dump;            // file with what it says of its state in full dumps (I-435)
};

/// Registers, then polls and prints each message until a signal comes (SIGINT: exit 130, SIGTERM: 0) or `count` is
/// reached. With `refuse` it is asked about nodes (4.9) and refuses those that a glob matches; it stores configurations
/// and tells its state if there are files for that. Confirms
/// PREEMPTED_BY_SCHEDULER, TIMEOUT and PLACEHOLDER_REPLACED with the same type (I-033).
[[nodiscard]] Outcome serve(Context& context, const ServeOptions& options);

} // namespace yk::cli
