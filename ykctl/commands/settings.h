#pragma once
// What holds for every command: where the daemon is, as whom to act, how to print. Each value comes from its option,
// else its environment variable, else the client's file, else a default.

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "protocol/transport/client.h"
#include "ykctl/commands/command.h"
#include "ykctl/render/output.h"
#include "ykctl/render/view.h"

namespace yk::cli {

/// The options as typed.
struct GlobalOptions {
    std::optional<std::string> socket, rm, partition, output, color, token_file, tls_ca;
    std::optional<std::chrono::milliseconds> timeout;
    std::vector<std::string> columns;
    std::optional<std::string> sort_by;
    bool no_headers = false;
    bool quiet = false;
    bool verbose = false;
    bool strict = false;
    bool trace_wire = false;
};

/// A setting as it is, and what said so: `--rm`, `YKCTL_RM`, `FILE:LINE:COLUMN` or `default`.
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
    std::optional<std::chrono::milliseconds> timeout; // as given
    bool color_always = false;
    bool color_never = false;
    bool quiet = false;
    bool verbose = false;
    wire::ClientOptions client;
    std::vector<SettingOrigin> origins; // of each setting that the client file knows
};

/// The value of an environment variable; nullopt when unset or empty.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

void define_global_options(Command root, GlobalOptions& options);

/// Settles every value. Errors (usage) name the source: the option, the variable, or file:line:column.
[[nodiscard]] Answer<Settings> resolve_settings(const GlobalOptions& options, const Environment& environment);

/// The format as far as it can be told while the rest may be wrong: how to print errors.
[[nodiscard]] bool wants_json(const GlobalOptions& options, const Environment& environment);

} // namespace yk::cli
