#include "ykd/service/command_line.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <optional>

#include "libcore/config/duration.h"
#include "libcore/config/suggest.h"
#include "ykd/service/extra_config.h"
#include "ykd/service/log.h"

namespace yk::service {
namespace {

constexpr int kUsage = 2;
constexpr int kBadConfig = 78;
constexpr const char* kDefaultSettings = "/etc/ykd/ykd.conf";

/// What was said on the command line; unset: the settings file or the default decides.
struct Flags {
    std::vector<std::string> configs, listen, require_recovery;
    std::string settings_file;
    std::optional<std::string> log_level, log_target, socket_group, socket_mode, tokens, tls_cert, tls_key,
        tls_client_ca, max_message, clock, pid_file, predicate_timeout, state_directory;
    std::optional<std::uint64_t> max_sessions;
    std::vector<std::string> check_files;
    bool allow_plaintext = false, manual_schedule = false, watch_config = false, foreground = false;
    bool legacy_queue_metrics = false, legacy_labels = false, summary_json = false;
    bool check = false, dump_default = false, version = false;
};

void define_files(CLI::App& app, Flags& flags) {
    app.add_option("--config", flags.configs, "queue configuration; with GROUP= of that policy group only")
        ->type_name("[GROUP=]FILE");
    app.add_option("--settings", flags.settings_file,
                   std::string("the daemon's settings (default ") + kDefaultSettings + ", if there)")
        ->type_name("FILE");
    app.add_option("--state-dir", flags.state_directory,
                   "directory for the dumps that SIGUSR1 asks for (default $STATE_DIRECTORY)")
        ->type_name("DIR");
    app.add_flag("--watch-config", flags.watch_config, "reload configuration files when they change");
    app.add_option("--check-config", flags.check_files,
                   "check these files, or all configured ones, and exit: 0 good, 78 not")
        ->type_name("[FILE]")
        ->expected(0, -1);
    app.add_flag("--dump-default-config", flags.dump_default, "print the built-in configuration and exit");
}

void define_access(CLI::App& app, Flags& flags) {
    app.add_option("--listen", flags.listen, "ipc://PATH, tcp://HOST:PORT or tls+tcp://HOST:PORT; may be repeated")
        ->type_name("URL");
    app.add_option("--socket-mode", flags.socket_mode, "mode of ipc sockets (default 0600)")->type_name("OCTAL");
    app.add_option("--socket-group", flags.socket_group, "group of ipc sockets")->type_name("GROUP");
    app.add_option("--tokens", flags.tokens, "file of access tokens for tcp")->type_name("FILE");
    app.add_option("--tls-cert", flags.tls_cert, "certificate for tls+tcp")->type_name("FILE");
    app.add_option("--tls-key", flags.tls_key, "its key")->type_name("FILE");
    app.add_option("--tls-client-ca", flags.tls_client_ca, "ask clients for certificates of this CA")
        ->type_name("FILE");
    app.add_flag("--allow-plaintext", flags.allow_plaintext, "allow tcp:// beyond this machine");
    app.add_option("--max-message", flags.max_message, "largest message, 1MiB to 256MiB (default 16MiB)")
        ->type_name("SIZE");
    app.add_option("--max-sessions", flags.max_sessions, "sessions at once (default 256)")->type_name("N");
}

void define_running(CLI::App& app, Flags& flags) {
    app.add_flag("--manual-schedule", flags.manual_schedule, "schedule only when told to (ykctl sched step)");
    app.add_option("--clock", flags.clock, "real (default) or virtual: moved by ykctl clock advance")
        ->check(CLI::IsMember({"real", "virtual"}));
    app.add_option("--predicate-timeout", flags.predicate_timeout,
                   "how long an RM may take to answer about nodes (default 2s)")
        ->type_name("DURATION");
    app.add_option("--require-recovery", flags.require_recovery, "RMs that may not register without recovery")
        ->delimiter(',')
        ->type_name("RMID,...");
    app.add_option("--log-level", flags.log_level, "debug, info (default), warn, error, ...")->type_name("LEVEL");
    app.add_option("--log-target", flags.log_target, "auto (default), journal, stderr or a file")->type_name("TARGET");
    app.add_flag("--summary-json", flags.summary_json, "log a summary of each ended application as JSON too");
    app.add_flag("--legacy-queue-metrics", flags.legacy_queue_metrics,
                 "metrics also with the queue's path in their names: yunikorn_<path>_queue_container");
    app.add_flag("--legacy-labels", flags.legacy_labels,
                 "metrics of queues without the label partition, while there is only one");
    app.add_option("--pidfile", flags.pid_file, "write the process id to this file")->type_name("FILE");
    app.add_flag("--foreground", flags.foreground, "accepted for familiarity: ykd never forks");
    app.add_flag("--version", flags.version, "print the version and exit");
}

Error usage(std::string message) {
    return Error{kUsage, std::move(message), {}};
}

Result<void> take_configs(const std::vector<std::string>& configs, DaemonSettings& settings) {
    for (const std::string& config : configs) {
        const std::size_t equals = config.find('=');
        if (equals == std::string::npos) {
            settings.default_config_file = config;
        } else if (equals == 0 || equals + 1 == config.size()) {
            return usage(fmt::format("--config {}: FILE or GROUP=FILE is wanted", config));
        } else {
            settings.config_files[config.substr(0, equals)] = config.substr(equals + 1);
        }
    }
    return {};
}

Result<void> take_mode(const std::string& text, DaemonSettings& settings) {
    if (text.empty() || text.size() > 4 || text.find_first_not_of("01234567") != std::string::npos)
        return usage(fmt::format("--socket-mode {}: an octal mode such as 0660 is wanted", text));
    settings.socket_mode = static_cast<mode_t>(std::stoul(text, nullptr, 8));
    return {};
}

Result<void> take_size(const std::string& text, DaemonSettings& settings) {
    const auto size = parse_size(text);
    if (!size.ok()) return usage("--max-message: " + size.error().message);
    if (*size < (1U << 20) || *size > (256U << 20)) return usage("--max-message: 1MiB to 256MiB");
    settings.max_message = static_cast<std::uint32_t>(*size);
    return {};
}

Result<void> take_timeout(const std::string& text, DaemonSettings& settings) {
    const auto duration = config::parse_duration(text);
    if (!duration.ok()) return usage("--predicate-timeout: " + duration.error().message);
    if (*duration <= Duration{0}) return usage("--predicate-timeout: must be above 0");
    settings.predicate_timeout = *duration;
    return {};
}

template <class T>
void take(const std::optional<T>& flag, T& to) {
    if (flag) to = *flag;
}

Result<void> apply(const Flags& flags, DaemonSettings& settings) {
    YK_CHECKED(take_configs(flags.configs, settings));
    if (flags.socket_mode) YK_CHECKED(take_mode(*flags.socket_mode, settings));
    if (flags.predicate_timeout) YK_CHECKED(take_timeout(*flags.predicate_timeout, settings));
    if (flags.max_message) YK_CHECKED(take_size(*flags.max_message, settings));
    if (flags.max_sessions == 0U) return usage("--max-sessions: at least 1");
    if (flags.log_level && !parse_level(*flags.log_level))
        return usage(
            fmt::format("--log-level {}: debug, info, warn, error, dpanic, panic, fatal or -1 to 5", *flags.log_level));
    if (!flags.listen.empty()) settings.listen = flags.listen;
    settings.require_recovery.insert(flags.require_recovery.begin(), flags.require_recovery.end());
    take(flags.log_level, settings.log_level);
    take(flags.log_target, settings.log_target);
    take(flags.socket_group, settings.socket_group);
    take(flags.tokens, settings.tokens_file);
    take(flags.tls_cert, settings.tls_cert);
    take(flags.tls_key, settings.tls_key);
    take(flags.tls_client_ca, settings.tls_client_ca);
    take(flags.pid_file, settings.pid_file);
    take(flags.state_directory, settings.state_directory);
    take(flags.max_sessions, settings.max_sessions);
    settings.allow_plaintext = flags.allow_plaintext;
    settings.manual_schedule = flags.manual_schedule;
    settings.virtual_clock = flags.clock == "virtual";
    settings.watch_config = flags.watch_config;
    settings.legacy_queue_metrics = flags.legacy_queue_metrics;
    settings.legacy_labels = flags.legacy_labels;
    settings.summary_json = flags.summary_json;
    return {};
}

/// systemd's $STATE_DIRECTORY, the first of them, unless something else was said.
void default_state_directory(DaemonSettings& settings) {
    const char* given = std::getenv("STATE_DIRECTORY");
    if (!settings.state_directory.empty() || given == nullptr) return;
    const std::string directories = given;
    settings.state_directory = directories.substr(0, directories.find(':'));
}

/// C-467. A bad value is warned of, and the default used (C-461).
void read_environment(DaemonSettings& settings) {
    default_state_directory(settings);
    const char* disabled = std::getenv("DISABLE_RESERVATION");
    if (disabled == nullptr) return;
    if (const auto flag = to_bool(disabled))
        settings.reservations_disabled = *flag;
    else
        std::cerr << "ykd: DISABLE_RESERVATION=" << disabled << " is neither true nor false; reservations are made\n";
}

Result<void> read_file(const Flags& flags, DaemonSettings& settings) {
    std::string path = flags.settings_file;
    if (path.empty()) {
        if (::access(kDefaultSettings, F_OK) != 0) return {};
        path = kDefaultSettings;
    }
    auto read = read_settings(path, settings);
    if (read.ok()) return {};
    Error error = std::move(read).error();
    error.code = kBadConfig;
    return error;
}

/// I-302: the first of /run/ykd, $XDG_RUNTIME_DIR and /tmp/ykd-UID that can be used. Only the last one is made.
std::string default_listen() {
    if (::access("/run/ykd", W_OK) == 0) return "ipc:///run/ykd/ykd.sock";
    if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime != nullptr && *runtime != '\0')
        return fmt::format("ipc://{}/ykd.sock", runtime);
    const std::string directory = fmt::format("/tmp/ykd-{}", ::getuid());
    static_cast<void>(::mkdir(directory.c_str(), 0700));
    return fmt::format("ipc://{}/ykd.sock", directory);
}

/// Somebody else may have made the directory below /tmp first.
Result<void> check_default_directory(const std::string& url) {
    const std::string directory = fmt::format("/tmp/ykd-{}", ::getuid());
    if (url.rfind("ipc://" + directory + "/", 0) != 0) return {};
    struct stat info {};
    const bool ours = ::lstat(directory.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::getuid() &&
                      (info.st_mode & 022U) == 0;
    if (ours) return {};
    return Error{1, fmt::format("{} is not a directory of yours alone; remove it or choose --listen", directory), {}};
}

CommandLine done(int code) {
    CommandLine line;
    line.action = Action::Done;
    line.exit_code = code;
    return line;
}

/// CLI11's own exit codes and texts become ours.
CommandLine usage_error(const CLI::App& app, const std::string& message, const std::vector<std::string>& unknown) {
    std::cerr << "ykd: " << message;
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    const std::vector<std::string_view> known(names.begin(), names.end());
    if (!unknown.empty())
        if (const std::string near = config::nearest(unknown.front(), known); !near.empty())
            std::cerr << "; did you mean " << near << "?";
    std::cerr << "\nykd: see ykd --help\n";
    return done(kUsage);
}

CommandLine finish(const Flags& flags) {
    CommandLine line;
    Result<void> result = read_file(flags, line.settings);
    if (result.ok()) result = apply(flags, line.settings);
    if (result.ok() && !flags.check && !flags.dump_default && line.settings.listen.empty()) {
        line.settings.listen = {default_listen()};
        result = check_default_directory(line.settings.listen.front());
    }
    if (!result.ok()) {
        std::cerr << "ykd: " << result.error().text() << "\n";
        return done(result.error().code == 0 ? 1 : result.error().code);
    }
    read_environment(line.settings);
    if (flags.dump_default) line.action = Action::DumpDefaultConfig;
    if (flags.check) {
        line.action = Action::CheckConfig;
        line.check_files = flags.check_files;
    }
    return line;
}

} // namespace

CommandLine parse_command_line(int argc, char** argv, const std::string& version) {
    CLI::App app{"ykd - resource scheduler core daemon; see ykd(8)", "ykd"};
    Flags flags;
    define_files(app, flags);
    define_access(app, flags);
    define_running(app, flags);
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        std::cout << app.help();
        return done(0);
    } catch (const CLI::ExtrasError& fault) {
        return usage_error(app, fault.what(), app.remaining());
    } catch (const CLI::Error& fault) {
        return usage_error(app, fault.what(), {});
    }
    flags.check = app.get_option("--check-config")->count() > 0;
    std::erase(flags.check_files, ""); // CLI11's way to say that it stands without a file
    if (flags.version) {
        std::cout << "ykd " << version << "\n";
        return done(0);
    }
    return finish(flags);
}

} // namespace yk::service
