// SPDX-License-Identifier: Apache-2.0
#include "ykctl/cli/settings.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "libcore/config_yaml/tree.h"
#include "protocol/transport/tls_files.h"
#include "ykctl/cli/patience.h"
#include "ykctl/cli/suggest.h"
#include "ykctl/cli/values.h"

namespace yk::cli {
namespace {

constexpr std::size_t kLongestToken = 4096;
constexpr std::uint32_t kLargestMessage = 256U << 20U; // bytes; the limit of the daemon decides (I-305)

const std::vector<std::string> kFileKeys{"socket", "rm",      "partition",  "output",
                                         "color",  "timeout", "token-file", "tls-ca"};
const std::vector<std::string> kFormats{std::begin(kFormatNames), std::end(kFormatNames)};
const std::vector<std::string> kColors{"auto", "always", "never"};

/// A value with its source, which errors name.
struct Sourced {
    std::string text;
    std::string source;
};
using FileValues = std::map<std::string, Sourced>;

std::string client_file(const Environment& environment) {
    if (const auto base = environment("XDG_CONFIG_HOME")) return *base + "/ykctl/config.yaml";
    if (const auto home = environment("HOME")) return *home + "/.config/ykctl/config.yaml";
    return {};
}

Answer<FileValues> read_client_file(const Environment& environment) {
    FileValues values;
    const auto path = client_file(environment);
    std::error_code ignored;
    if (path.empty() || !std::filesystem::exists(path, ignored)) return values;
    std::istringstream no_input;
    YK_TRY(text, read_text(path, no_input));
    config_yaml::TreeLimits limits;
    limits.unique_keys = false;
    const auto read = config_yaml::read_tree(text, path, limits);
    if (!read.ok()) return usage_error(read.error().text());
    const config_yaml::Node& tree = **read;
    using Kind = config_yaml::Node::Kind;
    if (tree.kind == Kind::Null) return values;
    if (tree.kind != Kind::Mapping) return usage_error(path + ": must be a map of settings");
    for (const auto& [key, mark, value] : tree.members) {
        const auto where = path + ":" + std::to_string(mark.line) + ":" + std::to_string(mark.column);
        if (std::find(kFileKeys.begin(), kFileKeys.end(), key) == kFileKeys.end()) {
            return usage_error(where + ": unknown key '" + key + "'" + did_you_mean(key, kFileKeys));
        }
        if (value->kind != Kind::Scalar) return usage_error(where + ": " + key + " must be one text");
        if (!values.emplace(key, Sourced{value->scalar, where}).second) {
            return usage_error(where + ": " + key + " is given twice");
        }
    }
    return values;
}

/// The value of the option, else of the variable, else of the file.
std::optional<Sourced> pick(const std::optional<std::string>& option, const std::string& name,
                            const std::string& variable, const Environment& environment, const FileValues& file) {
    if (option) return Sourced{*option, "--" + name};
    if (!variable.empty()) {
        if (const auto value = environment(variable)) return Sourced{*value, variable};
    }
    const auto found = file.find(name);
    if (found != file.end()) return found->second;
    return std::nullopt;
}

std::optional<std::string> value_text(const std::optional<Sourced>& value) {
    return value ? std::optional{value->text} : std::nullopt;
}

std::optional<Failure> check_choice(const std::optional<Sourced>& value, const std::vector<std::string>& known) {
    if (!value || std::find(known.begin(), known.end(), value->text) != known.end()) return std::nullopt;
    std::string all;
    for (const auto& name : known) all += (all.empty() ? "" : ", ") + name;
    return usage_error(value->source + ": '" + value->text + "' is not one of " + all +
                       did_you_mean(value->text, known));
}

Answer<std::string> read_token(const std::string& path) {
    std::istringstream no_input;
    YK_TRY(text, read_text(path, no_input, kLongestToken));
    const auto first = text.find_first_not_of(" \t\r\n");
    const auto end = text.find_first_of(" \t\r\n", first);
    if (first == std::string::npos) return usage_error(path + ": holds no token");
    return text.substr(first, end - first);
}

std::optional<Failure> check_address(const std::string& address) {
    static const std::vector<std::string> kSchemes{"ipc://", "tcp://", "tls+tcp://"};
    const bool known = std::any_of(kSchemes.begin(), kSchemes.end(),
                                   [&](const std::string& scheme) { return address.starts_with(scheme); });
    if (known) return std::nullopt;
    return usage_error("'" + address + "' is not the address of a daemon",
                       {"ipc:///run/ykd/ykd.sock, tcp://HOST:9810 or tls+tcp://HOST:9810"});
}

std::optional<Failure> take_view(const GlobalOptions& options, Settings& settings) {
    settings.view.headers = !options.no_headers;
    for (const std::string& names : options.columns) {
        std::istringstream parts(names);
        for (std::string name; std::getline(parts, name, ',');)
            if (!name.empty()) settings.view.columns.push_back(name);
    }
    const bool table = settings.format == Format::Table || settings.format == Format::Wide;
    if (!settings.view.columns.empty() && !table)
        return usage_error("--columns: only tables have columns", {"-o table, or pick members of the JSON"});
    if (!options.sort_by) return std::nullopt;
    constexpr std::string_view kDescending = ":desc";
    std::string& by = settings.view.sort_by = *options.sort_by;
    settings.view.descending = by.size() > kDescending.size() && by.ends_with(kDescending);
    if (settings.view.descending) by.resize(by.size() - kDescending.size());
    return std::nullopt;
}

/// The value that option, variable or file give for a key of the client file.
std::optional<Sourced> given_for(const std::string& key, const GlobalOptions& options, const Environment& environment,
                                 const FileValues& file) {
    std::optional<std::string> timeout;
    if (options.timeout) timeout = std::to_string(options.timeout->count()) + "ms";
    const std::map<std::string, std::pair<std::optional<std::string>, std::string>> known{
        {"socket", {options.socket, "YKCTL_SOCKET"}},
        {"rm", {options.rm, "YKCTL_RM"}},
        {"partition", {options.partition, "YKCTL_PARTITION"}},
        {"output", {options.output, "YKCTL_OUTPUT"}},
        {"color", {options.color, "YKCTL_COLOR"}},
        {"timeout", {timeout, "YKCTL_TIMEOUT"}},
        {"token-file", {options.token_file, "YKCTL_TOKEN_FILE"}},
        {"tls-ca", {options.tls_ca, "YKCTL_TLS_CA"}}};
    const auto& [option, variable] = known.at(key);
    auto given = pick(option, key, variable, environment, file);
    if (!given && key == "color" && environment("NO_COLOR")) given = Sourced{"never", "NO_COLOR"};
    return given;
}

std::vector<SettingOrigin> origins_of(const GlobalOptions& options, const Environment& environment,
                                      const FileValues& file) {
    const std::map<std::string, std::string> defaults{
        {"socket", wire::default_address()}, {"output", "table"}, {"color", "auto"}, {"timeout", "5s, for work 60s"}};
    std::vector<SettingOrigin> origins;
    for (const auto& key : kFileKeys) {
        const auto given = given_for(key, options, environment, file);
        const auto usual = defaults.find(key);
        if (given)
            origins.push_back({key, given->text, given->source});
        else
            origins.push_back({key, usual == defaults.end() ? std::string{} : usual->second, "default"});
    }
    return origins;
}

} // namespace

void define_global_options(Command root, GlobalOptions& options) {
    root.option("-s,--socket", options.socket, "address of the daemon (YKCTL_SOCKET)").value("URL");
    root.option("-r,--rm", options.rm, "act for this RM; may be left out when there is one (YKCTL_RM)").value("RMID");
    root.option("-p,--partition", options.partition, "partition, short name (YKCTL_PARTITION)").value("NAME");
    root.option("-o,--output", options.output, "form of the output (YKCTL_OUTPUT)").choices(kFormats);
    root.option("--columns", options.columns, "columns of a list's table, in this order: name,state").value("NAMES");
    root.option("--sort-by", options.sort_by, "order of a list: by this column, :desc for the largest first")
        .value("COLUMN[:desc]");
    root.flag("--no-headers", options.no_headers, "tables without headings, and nothing said about an empty one");
    root.option("--timeout", options.timeout, "wait so long, default 5s, for work 60s (YKCTL_TIMEOUT)");
    root.option("--color", options.color, "colours and bars (YKCTL_COLOR)").choices(kColors);
    root.option("--token-file", options.token_file, "file with the token for tcp (YKCTL_TOKEN_FILE)").value("FILE");
    root.option("--tls-ca", options.tls_ca, "certificates to trust with tls+tcp (YKCTL_TLS_CA)").value("FILE");
    root.flag("--quiet", options.quiet, "no reports of what was done");
    root.flag("-v,--verbose", options.verbose, "say more on standard error");
    root.flag("--strict", options.strict, "unknown fields in answers, and warnings of config check, are errors");
    root.flag("--trace-wire", options.trace_wire, "print every message to standard error");
}

Answer<Settings> resolve_settings(const GlobalOptions& options, const Environment& environment) {
    YK_TRY(file, read_client_file(environment));
    Settings settings;
    const auto socket = pick(options.socket, "socket", "YKCTL_SOCKET", environment, file);
    settings.address = socket ? socket->text : wire::default_address();
    settings.address_given = options.socket.has_value();
    settings.address_named = socket.has_value();
    if (const auto problem = check_address(settings.address)) return *problem;
    settings.rm = value_text(pick(options.rm, "rm", "YKCTL_RM", environment, file));
    settings.partition = value_text(pick(options.partition, "partition", "YKCTL_PARTITION", environment, file));

    const auto output = pick(options.output, "output", "YKCTL_OUTPUT", environment, file);
    if (const auto problem = check_choice(output, kFormats)) return *problem;
    if (output) settings.format = *find_format(output->text);
    if (const auto problem = take_view(options, settings)) return *problem;

    auto color = pick(options.color, "color", "YKCTL_COLOR", environment, file);
    if (!color && environment("NO_COLOR")) color = Sourced{"never", "NO_COLOR"};
    if (const auto problem = check_choice(color, kColors)) return *problem;
    settings.color_always = color && color->text == "always";
    settings.color_never = color && color->text == "never";

    settings.timeout = options.timeout;
    if (!settings.timeout) {
        if (const auto timeout = pick(std::nullopt, "timeout", "YKCTL_TIMEOUT", environment, file)) {
            const auto parsed = parse_milliseconds(timeout->text);
            if (!parsed.ok()) return usage_error(timeout->source + ": " + parsed.error().message);
            settings.timeout = *parsed;
        }
    }
    settings.quiet = options.quiet;
    settings.verbose = options.verbose;

    settings.client.url = settings.address;
    settings.client.timeout = settings.timeout.value_or(kQuick);
    settings.client.strict = options.strict;
    settings.client.max_message = kLargestMessage;
    settings.client.trace = options.trace_wire;
    if (const auto token = pick(options.token_file, "token-file", "YKCTL_TOKEN_FILE", environment, file)) {
        YK_TRY(text, read_token(token->text));
        settings.client.token = text;
    }
    if (const auto ca = pick(options.tls_ca, "tls-ca", "YKCTL_TLS_CA", environment, file)) {
        settings.client.tls_ca = ca->text;
    }
    const bool needs_trust = options.tls_ca || settings.address.starts_with("tls+tcp://");
    const auto trusted = needs_trust ? wire::check_trusted(settings.address, settings.client.tls_ca) : Result<void>{};
    if (!trusted.ok()) return usage_error(trusted.error().message);
    settings.origins = origins_of(options, environment, file);
    return settings;
}

bool wants_json(const GlobalOptions& options, const Environment& environment) {
    auto name = options.output ? options.output : environment("YKCTL_OUTPUT");
    if (!name) {
        const auto file = read_client_file(environment);
        if (file.ok()) name = value_text(pick(std::nullopt, "output", "", environment, *file));
    }
    return name == "json" || name == "jsonl";
}

} // namespace yk::cli
