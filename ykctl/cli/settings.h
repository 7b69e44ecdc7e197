// SPDX-License-Identifier: Apache-2.0
#pragma once
// The settings of every command: where the daemon is, for whom to act, how to print. Each value comes from its option,
// else the context of --context, else its environment variable, else the context that is used, else the client file,
// else a default.

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "protocol/client/client.h"
#include "ykctl/cli/command.h"
#include "ykctl/render/output.h"
#include "ykctl/render/view.h"

namespace yk::cli {

/// The options as typed.
struct GlobalOptions {
    std::optional<std::string> socket, context, rm, partition, output, color, token_file, tls_ca;
    std::optional<std::chrono::milliseconds> timeout;
    std::vector<std::string> columns;
    std::vector<std::string> sort_by;
    bool no_headers = false;
    bool quiet = false;
    bool verbose = false;
    bool strict = false;
    bool trace_wire = false;
};

/// The value of a setting and its source: `--rm`, `YKCTL_RM`, `FILE:LINE:COLUMN` or `default`.
struct SettingOrigin {
    std::string name, value, source;
};

struct Settings {
    std::string address;
    bool address_given = false; // by -s itself
    bool address_named = false; // by anything: -s, the environment, the client's file
    std::optional<std::string> rm, partition;
    Format format = Format::Table;
    TableView view;
    std::optional<std::chrono::milliseconds> timeout; // of --timeout or its like; nullopt: none was given
    bool color_always = false;
    bool color_never = false;
    bool is_ascii = false; // what the user's locale says that the terminal shows
    bool quiet = false;
    bool verbose = false;
    wire::ClientOptions client;
    std::vector<SettingOrigin> origins; // of each setting that the client file knows
    std::string contexts_file;          // see named_contexts.h; empty: there is no place for it
};

/// The value of an environment variable; nullopt when unset or empty.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

void define_global_options(Command root, GlobalOptions& options);

/// Determines every value. Usage errors name the source: the option, the variable, or file:line:column.
[[nodiscard]] Answer<Settings> resolve_settings(const GlobalOptions& options, const Environment& environment);

/// Whether errors are to be printed as JSON. Works also while other settings are wrong.
[[nodiscard]] bool wants_json(const GlobalOptions& options, const Environment& environment);

} // namespace yk::cli
