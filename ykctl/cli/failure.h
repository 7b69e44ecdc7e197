// SPDX-License-Identifier: Apache-2.0
#pragma once
// Failure: why a command did not do what was asked, with the exit code it gives (EXIT STATUS of ykctl(1)).

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/base/result.h"
#include "protocol/client/client.h"
#include "protocol/wire/value.h"

namespace yk::cli {

enum class Exit : int {
    Ok = 0,
    Refused = 1,     // understood, but refused or failed by the daemon
    Usage = 2,       // the command line or an input file is wrong
    Unreachable = 3, // no daemon
    NotFound = 4,
    Denied = 5,
    Unknown = 6,      // the connection was lost after a change was sent
    NotSatisfied = 7, // accepted, but not what --wait asked for in time
    Different = 8,    // diff, verify, config check --strict
    Interrupted = 130
};

struct Failure {
    Exit exit = Exit::Refused;
    std::string message;
    std::vector<std::string> hints; // what to do next, one line each
    std::uint32_t code = 0;         // of interface.md 4.11; 0: ykctl itself found the failure
    std::string name;               // E_INVALID, ...; or USAGE, UNREACHABLE, ...
    std::string path;               // in the request
    wire::Value details = {};       // what the daemon adds; for a configuration {line, column, problems, source, ...}
};

using Outcome = Result<Exit, Failure>;
template <class T>
using Answer = Result<T, Failure>;

[[nodiscard]] Failure usage_error(std::string message, std::vector<std::string> hints = {});
[[nodiscard]] Failure not_found(std::string message, std::vector<std::string> hints = {});
/// A change was sent, and nobody knows whether it was made.
[[nodiscard]] Failure outcome_unknown(const std::string& why);
/// The failure for an error of the client; `address` is the one that the user gave.
[[nodiscard]] Failure from_call_error(const wire::CallError& error, const std::string& address);

/// A configuration that is refused for its `problems` ([{line, column, path, message, severity}], the first error
/// first). The message is `before` and the first problem with its position in `file`; the hints are the others.
[[nodiscard]] Failure config_refused(const std::string& before, const std::string& file, const wire::Value& problems);
/// The failure of a request with a configuration, as config_refused() if that was refused. `file` is where it was read
/// from; empty when the daemon read it, which then names the file itself.
[[nodiscard]] Failure with_problems(Failure failure, const std::string& file);

/// The failure as it is printed: `ykctl: message` and the hints, or a line of JSON.
[[nodiscard]] std::string failure_text(const Failure& failure, bool json);

/// The exit code for an error code of the daemon (interface.md 4.11).
[[nodiscard]] Exit exit_of_code(std::uint32_t code);
/// `P_NODE_EXISTS` for 1021; empty for an unknown one.
[[nodiscard]] std::string element_code_name(std::int64_t code);

} // namespace yk::cli
