// SPDX-License-Identifier: Apache-2.0
#include "ykctl/cli/settings.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "libcore/base/text.h"
#include "libcore/config_yaml/tree.h"
#include "protocol/transport/ipc_path.h"
#include "protocol/transport/tls_files.h"
#include "ykctl/cli/named_contexts.h"
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
using SourcedValues = std::map<std::string, Sourced>;

/// All that is said about the settings; of each the first that says something counts.
using Layers = std::vector<SourcedValues>;

/// A file of the user's; empty when there is no place for any.
std::string own_file(const Environment& environment, const std::string& name) {
    if (const auto base = environment("XDG_CONFIG_HOME")) return *base + "/ykctl/" + name;
    if (const auto home = environment("HOME")) return *home + "/.config/ykctl/" + name;
    return {};
}

Answer<SourcedValues> read_client_file(const Environment& environment) {
    SourcedValues values;
    const auto path = own_file(environment, "config.yaml");
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

SourcedValues given_options(const GlobalOptions& options) {
    std::optional<std::string> timeout;
    if (options.timeout) timeout = std::to_string(options.timeout->count()) + "ms";
    SourcedValues values;
    const auto put = [&values](const char* key, const std::optional<std::string>& value) {
        if (value) values[key] = {*value, std::string{"--"} + key};
    };
    put("socket", options.socket);
    put("rm", options.rm);
    put("partition", options.partition);
    put("output", options.output);
    put("color", options.color);
    put("timeout", timeout);
    put("token-file", options.token_file);
    put("tls-ca", options.tls_ca);
    return values;
}

/// Those of YKCTL_TOKEN_FILE and its like.
SourcedValues given_variables(const Environment& environment) {
    SourcedValues values;
    for (const std::string& key : kFileKeys) {
        std::string variable = "YKCTL_" + key;
        std::transform(variable.begin(), variable.end(), variable.begin(), [](char c) {
            return c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        });
        if (const auto value = environment(variable)) values[key] = {*value, variable};
    }
    return values;
}

SourcedValues values_of(const ContextValues& context, const std::string& source) {
    SourcedValues values;
    for (const auto& [key, text] : context) values[key] = {text, source};
    return values;
}

std::optional<Sourced> pick(const Layers& layers, const std::string& key) {
    for (const SourcedValues& layer : layers)
        if (const auto found = layer.find(key); found != layer.end()) return found->second;
    return std::nullopt;
}

/// Adds the context of --context before the variables, which it is stronger than; else behind them the one that is
/// used, unless the daemon is named already: its token is for no other one.
std::optional<Failure> add_context(const GlobalOptions& options, const Environment& environment,
                                   const NamedContexts& contexts, Layers& layers) {
    const auto variable = environment("YKCTL_CONTEXT");
    const std::string used = variable.value_or(contexts.used);
    if (!options.context && (used.empty() || pick(layers, "socket"))) return std::nullopt;
    const std::string& name = options.context ? *options.context : used;
    auto context = context_named(contexts, name);
    if (!context.ok()) return std::move(context).error();
    const auto at = options.context ? layers.begin() + 1 : layers.end();
    layers.insert(at, values_of(*context, "context " + name));
    return std::nullopt;
}

Answer<Layers> layers_of(const GlobalOptions& options, const Environment& environment, const NamedContexts& contexts) {
    Layers layers{given_options(options), given_variables(environment)};
    if (auto failure = add_context(options, environment, contexts, layers)) return *std::move(failure);
    YK_TRY(file, read_client_file(environment));
    layers.push_back(std::move(file));
    if (environment("NO_COLOR")) layers.push_back({{"color", {"never", "NO_COLOR"}}});
    return layers;
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
                       {"/run/ykd/ykd.sock, tcp://HOST:9810 or tls+tcp://HOST:9810"});
}

std::optional<Failure> take_view(const GlobalOptions& options, Settings& settings) {
    settings.view.headers = !options.no_headers;
    settings.view.columns = split_lists(options.columns);
    const bool table = settings.format == Format::Table || settings.format == Format::Wide;
    if (!settings.view.columns.empty() && !table)
        return usage_error("--columns: only tables have columns", {"-o table, or pick members of the JSON"});
    constexpr std::string_view kDescending = ":desc", kAscending = ":asc";
    for (std::string& name : split_lists(options.sort_by)) {
        bool descending = name.ends_with(kDescending);
        if (descending || name.ends_with(kAscending)) name.resize(name.rfind(':'));
        if (name.starts_with('-')) { // as other programs have it
            descending = true;
            name.erase(0, 1);
        }
        if (!name.empty()) settings.view.sort_by.push_back({std::move(name), descending});
    }
    return std::nullopt;
}

/// Whether the locale is one without UTF-8. Where none is said, as in many containers, the terminal shows it.
bool is_ascii_locale(const Environment& environment) {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const auto locale = environment(name);
        if (!locale) continue;
        const std::string text = lower(*locale);
        return text.find("utf-8") == std::string::npos && text.find("utf8") == std::string::npos;
    }
    return false;
}

std::vector<SettingOrigin> origins_of(const Layers& layers) {
    const std::map<std::string, std::string> defaults{
        {"socket", wire::default_address()}, {"output", "table"}, {"color", "auto"}, {"timeout", "5s, for work 60s"}};
    std::vector<SettingOrigin> origins;
    for (const auto& key : kFileKeys) {
        const auto usual = defaults.find(key);
        const auto given = pick(layers, key);
        origins.push_back(given ? SettingOrigin{key, given->text, given->source}
                                : SettingOrigin{key, usual == defaults.end() ? "" : usual->second, "default"});
    }
    return origins;
}

} // namespace

void define_global_options(Command root, GlobalOptions& options) {
    root.option("-s,--socket", options.socket, "address of the daemon (YKCTL_SOCKET)").value("URL");
    root.option("--context", options.context, "the daemon of this name, see `ykctl context` (YKCTL_CONTEXT)")
        .value("NAME");
    root.option("-r,--rm", options.rm, "act for this RM; may be left out when there is one (YKCTL_RM)").value("RMID");
    root.option("-p,--partition", options.partition, "partition, short name (YKCTL_PARTITION)").value("NAME");
    root.option("-o,--output", options.output, "form of the output (YKCTL_OUTPUT)").choices(kFormats);
    root.option("--columns", options.columns, "columns of a list's table, in this order: name,state").value("NAMES");
    root.option("--sort-by", options.sort_by,
                "order of a list: by these columns, :desc for the largest first: state,used:desc")
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
    Settings settings;
    settings.contexts_file = own_file(environment, "contexts.yaml");
    YK_TRY(contexts, read_contexts(settings.contexts_file));
    YK_TRY(layers, layers_of(options, environment, contexts));
    const auto socket = pick(layers, "socket");
    settings.address = socket ? wire::url_of(socket->text) : wire::default_address();
    settings.address_given = options.socket.has_value();
    settings.address_named = socket.has_value();
    if (const auto problem = check_address(settings.address)) return *problem;
    settings.rm = value_text(pick(layers, "rm"));
    settings.partition = value_text(pick(layers, "partition"));

    const auto output = pick(layers, "output");
    if (const auto problem = check_choice(output, kFormats)) return *problem;
    if (output) settings.format = *find_format(output->text);
    if (const auto problem = take_view(options, settings)) return *problem;

    const auto color = pick(layers, "color");
    if (const auto problem = check_choice(color, kColors)) return *problem;
    settings.color_always = color && color->text == "always";
    settings.color_never = color ? color->text == "never" : environment("TERM") == "dumb";
    settings.is_ascii = is_ascii_locale(environment);

    if (const auto timeout = pick(layers, "timeout")) {
        const auto parsed = parse_milliseconds(timeout->text);
        if (!parsed.ok()) return usage_error(timeout->source + ": " + parsed.error().message);
        settings.timeout = *parsed;
    }
    settings.quiet = options.quiet;
    settings.verbose = options.verbose;

    settings.client.url = settings.address;
    settings.client.timeout = settings.timeout.value_or(kQuick);
    settings.client.strict = options.strict;
    settings.client.max_message = kLargestMessage;
    settings.client.trace = options.trace_wire;
    if (const auto token = pick(layers, "token-file")) {
        YK_TRY(text, read_token(token->text));
        settings.client.token = text;
    }
    const auto ca = pick(layers, "tls-ca");
    if (ca) settings.client.tls_ca = ca->text;
    const bool needs_trust = options.tls_ca || settings.address.starts_with("tls+tcp://");
    const auto trusted = needs_trust ? wire::check_trusted(settings.address, settings.client.tls_ca) : Result<void>{};
    if (!trusted.ok()) return usage_error(trusted.error().message);
    settings.origins = origins_of(layers);
    return settings;
}

bool wants_json(const GlobalOptions& options, const Environment& environment) {
    Layers layers{given_options(options), given_variables(environment)};
    if (auto file = read_client_file(environment); file.ok()) layers.push_back(*std::move(file));
    const auto name = pick(layers, "output");
    return name && (name->text == "json" || name->text == "jsonl");
}

} // namespace yk::cli
