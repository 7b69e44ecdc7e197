// SPDX-License-Identifier: Apache-2.0
#include "ykd/daemon/command_line.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <optional>

#include "libcore/base/number.h"
#include "libcore/config/duration.h"
#include "libcore/config/suggest.h"
#include "protocol/transport/ipc_path.h"
#include "ykd/configuration/extra_config.h"
#include "ykd/process/log.h"

namespace yk::service {
namespace {

constexpr int kUsage = 2;
constexpr int kBadConfig = 78;
constexpr const char* kDefaultSettings = "/etc/ykd/ykd.conf";

/// What the command line has. What is unset there is decided by the settings file or the default.
struct Flags {
    std::vector<std::string> configs, listen, require_recovery, rm_max;
    std::string settings_file;
    std::optional<std::string> log_level, log_target, socket_group, socket_mode, tokens, tls_cert, tls_key,
        tls_client_ca, http, web_root, max_message, max_sessions, clock, pid_file, ready_fd, predicate_timeout,
        state_directory, record_directory;
    std::vector<std::string> check_files;
    bool allow_plaintext = false, manual_schedule = false, watch_config = false, foreground = false;
    bool legacy_queue_metrics = false, legacy_labels = false, summary_json = false;
    bool check = false, dump_default = false, version = false;
};

void define_files(CLI::App& app, Flags& flags) {
    app.add_option("-c,--config", flags.configs, "queue configuration; with GROUP= of that policy group only")
        ->type_name("[GROUP=]FILE");
    app.add_option("--settings", flags.settings_file,
                   std::string("the daemon's settings (default ") + kDefaultSettings + ", if there)")
        ->type_name("FILE");
    app.add_option("--state,--state-dir", flags.state_directory,
                   "keep detached RMs in this directory, over restarts (default $STATE_DIRECTORY)")
        ->type_name("DIR");
    app.add_option("--record", flags.record_directory,
                   "record all that is done to the core in this directory (ykctl recording verify DIR)")
        ->type_name("DIR");
    app.add_flag("--watch-config", flags.watch_config, "reload configuration files when they change");
    app.add_option("--check-config", flags.check_files,
                   "check these files, or all configured ones, and exit: 0 good, 78 not")
        ->type_name("[FILE]")
        ->expected(0, -1);
    app.add_flag("--dump-default-config", flags.dump_default, "print the built-in configuration and exit");
}

void define_access(CLI::App& app, Flags& flags) {
    app.add_option("--listen", flags.listen, "PATH, tcp://HOST:PORT or tls+tcp://HOST:PORT; may be repeated")
        ->type_name("URL");
    app.add_option("--http", flags.http, "answer the REST interface and metrics there, for reading (default off)")
        ->type_name("ADDR:PORT");
    app.add_option("--web-root", flags.web_root, "send the web pages of this folder there, too, such as yunikorn-web")
        ->type_name("DIR");
    app.add_option("--socket-mode", flags.socket_mode, "mode of ipc sockets (default 0600)")->type_name("OCTAL");
    app.add_option("--socket-group", flags.socket_group, "group of ipc sockets")->type_name("GROUP");
    app.add_option("--tokens", flags.tokens, "file of access tokens for tcp")->type_name("FILE");
    app.add_option("--tls-cert", flags.tls_cert, "certificate for tls+tcp")->type_name("FILE");
    app.add_option("--tls-key", flags.tls_key, "its key")->type_name("FILE");
    app.add_option("--tls-client-ca", flags.tls_client_ca, "ask clients for certificates of this CA")
        ->type_name("FILE");
    app.add_flag("--allow-plaintext", flags.allow_plaintext, "allow tcp:// beyond this machine");
    app.add_option("--max-message", flags.max_message, "largest message, 2MiB to 256MiB (default 16MiB)")
        ->type_name("SIZE");
    app.add_option("--max-sessions", flags.max_sessions, "sessions at once (default 256)")->type_name("N");
}

void define_running(CLI::App& app, Flags& flags) {
    app.add_flag("--manual-schedule", flags.manual_schedule, "schedule only when told to (ykctl sched step)");
    app.add_option("--clock", flags.clock, "real (default) or virtual: moved by ykctl clock advance")
        ->type_name("real|virtual");
    app.add_option("--predicate-timeout", flags.predicate_timeout,
                   "how long an RM may take to answer about nodes (default 2s)")
        ->type_name("DURATION");
    app.add_option("--rm-max", flags.rm_max,
                   "what each RM may hold: nodes, applications, asks, queues or names; 0: no limit")
        ->delimiter(',')
        ->type_name("KIND=N,...");
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
    app.add_option("--ready-fd", flags.ready_fd, "when it listens, write a line to this open descriptor and close it")
        ->type_name("N");
    app.add_flag("--foreground", flags.foreground, "accepted for familiarity: ykd never forks");
    app.add_flag("--version", flags.version, "print the version and exit");
}

Error usage(std::string message) {
    return Error::coded(kUsage, std::move(message));
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
    if (*size < (2U << 20) || *size > (256U << 20)) return usage("--max-message: 2MiB to 256MiB");
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

Result<void> take_sessions(const std::string& text, DaemonSettings& settings) {
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), settings.max_sessions);
    if (fault == std::errc::result_out_of_range) return usage(fmt::format("--max-sessions {}: is too large", text));
    if (text.empty() || fault != std::errc{} || end != text.data() + text.size())
        return usage(fmt::format("--max-sessions {}: a whole number is wanted", text));
    if (settings.max_sessions == 0) return usage("--max-sessions: at least 1");
    return {};
}

/// The descriptor stays the daemon's own: what it starts does not inherit it.
Result<void> take_ready_fd(const std::string& text, DaemonSettings& settings) {
    const auto fd = to_number<int>(text);
    if (!fd || *fd < 0) return usage(fmt::format("--ready-fd {}: the number of a descriptor is wanted", text));
    if (::fcntl(*fd, F_SETFD, FD_CLOEXEC) != 0 || (::fcntl(*fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
        return usage(fmt::format("--ready-fd {}: no descriptor of this number is open for writing", text));
    settings.ready_fd = *fd;
    return {};
}

Result<void> take_rm_max(const std::vector<std::string>& limits, Budget& budget) {
    for (const std::string& each : limits) {
        const std::size_t equals = each.find('=');
        const auto kind = std::find_if(kAllHeld.begin(), kAllHeld.end(),
                                       [&](Held one) { return name_of(one) == each.substr(0, equals); });
        if (equals == std::string::npos || kind == kAllHeld.end())
            return usage(fmt::format("--rm-max {}: nodes, applications, asks, queues or names, and =N", each));
        const auto value = parse_size(each.substr(equals + 1));
        if (!value.ok()) return usage(fmt::format("--rm-max {}: {}", each, value.error().message));
        limit_of(budget, *kind) = *value;
    }
    return {};
}

Result<void> take_clock(const std::string& text, DaemonSettings& settings) {
    static constexpr std::array<std::string_view, 2> kClocks{"real", "virtual"};
    if (std::find(kClocks.begin(), kClocks.end(), text) == kClocks.end()) {
        const std::string near = config::nearest(text, kClocks);
        return usage(fmt::format("--clock {}: real or virtual is wanted{}", text,
                                 near.empty() ? std::string{} : "; did you mean " + near + "?"));
    }
    settings.virtual_clock = text == "virtual";
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
    if (flags.max_sessions) YK_CHECKED(take_sessions(*flags.max_sessions, settings));
    if (flags.ready_fd) YK_CHECKED(take_ready_fd(*flags.ready_fd, settings));
    YK_CHECKED(take_rm_max(flags.rm_max, settings.rm_max));
    if (flags.clock) YK_CHECKED(take_clock(*flags.clock, settings));
    if (flags.log_level && !parse_level(*flags.log_level))
        return usage(
            fmt::format("--log-level {}: debug, info, warn, error, dpanic, panic, fatal or -1 to 5", *flags.log_level));
    if (!flags.listen.empty()) settings.listen = flags.listen;
    for (std::string& address : settings.listen) address = wire::url_of(address);
    settings.require_recovery.insert(flags.require_recovery.begin(), flags.require_recovery.end());
    settings.known_rms.insert(flags.require_recovery.begin(), flags.require_recovery.end());
    take(flags.log_level, settings.log_level);
    take(flags.log_target, settings.log_target);
    take(flags.socket_group, settings.socket_group);
    take(flags.tokens, settings.tokens_file);
    take(flags.tls_cert, settings.tls_cert);
    take(flags.tls_key, settings.tls_key);
    take(flags.tls_client_ca, settings.tls_client_ca);
    take(flags.http, settings.http.address);
    take(flags.web_root, settings.http.web_root);
    take(flags.pid_file, settings.pid_file);
    take(flags.state_directory, settings.state_directory);
    take(flags.record_directory, settings.record_directory);
    settings.allow_plaintext = flags.allow_plaintext;
    settings.manual_schedule = flags.manual_schedule;
    settings.watch_config = flags.watch_config;
    settings.legacy_queue_metrics = flags.legacy_queue_metrics;
    settings.legacy_labels = flags.legacy_labels;
    settings.summary_json = flags.summary_json;
    return {};
}

/// Takes the first directory of systemd's $STATE_DIRECTORY, unless one was given.
void default_state_directory(DaemonSettings& settings) {
    const char* given = std::getenv("STATE_DIRECTORY");
    if (!settings.state_directory.empty() || given == nullptr) return;
    const std::string directories = given;
    settings.state_directory = directories.substr(0, directories.find(':'));
}

/// Reads DISABLE_RESERVATION and the state directory (C-467). A bad value makes a warning, and the default is used
/// (C-461).
void read_environment(DaemonSettings& settings) {
    default_state_directory(settings);
    const char* disabled = std::getenv("DISABLE_RESERVATION");
    if (disabled == nullptr) return;
    if (const auto flag = to_bool(disabled))
        settings.reservations_disabled = *flag;
    else
        std::cerr << "ykd: DISABLE_RESERVATION=" << disabled << " is neither true nor false; reservations are made\n";
}

/// Reads the settings file. False: it is refused, and every problem was printed.
bool read_file(const Flags& flags, DaemonSettings& settings) {
    std::string path = flags.settings_file;
    if (path.empty()) {
        if (::access(kDefaultSettings, F_OK) != 0) return true;
        path = kDefaultSettings;
    }
    const auto read = read_settings(path, settings);
    if (read.ok()) return true;
    for (const Error& fault : read.error().all) std::cerr << "ykd: " << fault.text() << "\n";
    return false;
}

/// The socket in the first of /run/ykd, $XDG_RUNTIME_DIR and /tmp/ykd-UID that can be used. Only the last of them is
/// made (I-302).
std::string default_listen() {
    if (::access("/run/ykd", W_OK) == 0) return "ipc:///run/ykd/ykd.sock";
    if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime != nullptr && *runtime != '\0')
        return fmt::format("ipc://{}/ykd.sock", runtime);
    const std::string directory = fmt::format("/tmp/ykd-{}", ::getuid());
    static_cast<void>(::mkdir(directory.c_str(), 0700));
    return fmt::format("ipc://{}/ykd.sock", directory);
}

/// Refuses a directory below /tmp that somebody else made or may write to.
Result<void> check_default_directory(const std::string& url) {
    const std::string directory = fmt::format("/tmp/ykd-{}", ::getuid());
    if (url.rfind("ipc://" + directory + "/", 0) != 0) return {};
    struct stat info {};
    const bool ours = ::lstat(directory.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::getuid() &&
                      (info.st_mode & 022U) == 0;
    if (ours) return {};
    return Error::coded(1,
                        fmt::format("{} is not a directory of yours alone; remove it or choose --listen", directory));
}

CommandLine done(int code) {
    CommandLine line;
    line.action = Action::Done;
    line.exit_code = code;
    return line;
}

CommandLine usage_error(const std::string& message) {
    std::cerr << "ykd: " << message << "\nykd: see ykd --help\n";
    return done(kUsage);
}

/// A message about a word without an option: a command, as other daemons have, or a file.
std::string unknown_argument(const std::string& word) {
    std::string message = fmt::format("unexpected argument '{}'", word);
    constexpr std::array<std::string_view, 6> kCommands{"start", "run", "serve", "server", "stop", "restart"};
    if (std::find(kCommands.begin(), kCommands.end(), word) != kCommands.end())
        return message + "; ykd has no commands: ykd --config FILE runs it, systemctl start|stop ykd as a service";
    if (word.ends_with(".yaml") || word.ends_with(".yml") || ::access(word.c_str(), R_OK) == 0)
        return fmt::format("{}; a configuration? --config {}", message, word);
    return message;
}

/// A message about the words that ykd does not know. When one of them is an option, that one explains the others.
std::string unknown_word(const CLI::App& app, const std::vector<std::string>& words) {
    const auto option = std::find_if(words.begin(), words.end(),
                                     [](const std::string& word) { return word.size() > 1 && word.front() == '-'; });
    if (option == words.end()) return unknown_argument(words.empty() ? std::string{} : words.front());
    if (*option == "-d" || *option == "--daemon" || *option == "--daemonize")
        return fmt::format("unknown option '{}'; ykd stays in the foreground: systemctl start ykd, or ykd ... &",
                           *option);
    std::vector<std::string> names;
    for (const CLI::Option* one : app.get_options())
        for (const std::string& name : one->get_lnames()) names.push_back("--" + name);
    const std::vector<std::string_view> known(names.begin(), names.end());
    const std::string wanted = option->substr(0, option->find('='));
    const std::string near = config::nearest(wanted, known);
    return fmt::format("unknown option '{}'{}", wanted, near.empty() ? std::string{} : "; did you mean " + near + "?");
}

/// A clearer message for CLI11's `--listen: 1 required URL missing` and `--clock: At Most 1 required but received 2`.
std::string wrong_count(const CLI::App& app, const std::string& message) {
    const std::string name = message.substr(0, message.find(':'));
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option == nullptr) return message;
    if (message.find("missing") != std::string::npos)
        return fmt::format("{} needs a value: {} {}", name, name, option->get_type_name());
    return message.find("received") == std::string::npos ? message : fmt::format("{} is given more than once", name);
}

CommandLine finish(const Flags& flags) {
    CommandLine line;
    if (!read_file(flags, line.settings)) return done(kBadConfig);
    Result<void> result = apply(flags, line.settings);
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
    } catch (const CLI::ExtrasError&) { // CLI11's exit codes and texts become ours
        return usage_error(unknown_word(app, app.remaining()));
    } catch (const CLI::ArgumentMismatch& fault) {
        return usage_error(wrong_count(app, fault.what()));
    } catch (const CLI::Error& fault) {
        return usage_error(fault.what());
    }
    flags.check = app.get_option("--check-config")->count() > 0;
    std::erase(flags.check_files, ""); // CLI11 has an empty text for the option without a file
    if (flags.version) {
        std::cout << "ykd " << version << "\n";
        return done(0);
    }
    return finish(flags);
}

} // namespace yk::service
