// SPDX-License-Identifier: Apache-2.0
#include "ykctl/cli/failure.h"

#include <cerrno>
#include <limits>
#include <string_view>

#include <sys/stat.h>
#include <unistd.h>

#include "protocol/si/errors.h"
#include "ykctl/render/output.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

constexpr std::uint32_t code_of(si::ErrorCode code) {
    return static_cast<std::uint32_t>(code);
}

const char* name_of(Exit exit) {
    switch (exit) {
    case Exit::Usage: return "USAGE";
    case Exit::Unreachable: return "UNREACHABLE";
    case Exit::NotFound: return "NOT_FOUND";
    case Exit::Denied: return "DENIED";
    case Exit::Unknown: return "OUTCOME_UNKNOWN";
    case Exit::NotSatisfied: return "NOT_SATISFIED";
    case Exit::Different: return "DIFFERENT";
    case Exit::Interrupted: return "INTERRUPTED";
    case Exit::Ok:
    case Exit::Refused: break;
    }
    return "FAILED";
}

/// What is wrong with the socket file of an ipc address; empty for other transports, and when nothing is.
struct SocketProblem {
    std::string text;
    bool denied = false;
};

SocketProblem look_at_socket(std::string_view address) {
    constexpr std::string_view kIpc = "ipc://";
    if (address.substr(0, kIpc.size()) != kIpc) return {};
    const std::string path{address.substr(kIpc.size())};
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) {
        if (errno == EACCES) return {"permission denied", true};
        return {"no such socket", false};
    }
    if (!S_ISSOCK(found.st_mode)) return {"not a socket", false};
    if (::access(path.c_str(), W_OK) != 0) return {"permission denied", true};
    return {};
}

Failure unreachable(const wire::CallError& error, const std::string& address) {
    auto problem = look_at_socket(address);
    problem.denied = problem.denied || error.kind == wire::CallError::Kind::Denied;
    Failure failure;
    failure.exit = problem.denied ? Exit::Denied : Exit::Unreachable;
    failure.message = "cannot reach ykd at " + address + ": " + (problem.text.empty() ? error.message : problem.text);
    failure.hints = {problem.denied ? "who are you?  the daemon's user, root, and those it lets in (ykd --socket-mode, "
                                      "--socket-group, setting peers) may use the socket"
                                    : "is it running?  systemctl status ykd      other address?  -s URL or "
                                      "YKCTL_SOCKET"};
    return failure;
}

Failure refused(const wire::CallError& error) {
    Failure failure;
    failure.exit = exit_of_code(error.code);
    failure.code = error.code;
    failure.name = error.name;
    failure.path = error.path;
    failure.details = error.details;
    failure.message = error.message.empty() ? "refused by ykd" : error.message;
    if (!error.path.empty() && failure.message.find(error.path) == std::string::npos) {
        failure.message = error.path + ": " + failure.message;
    }
    if (error.code == code_of(si::ErrorCode::RmUnknown))
        failure.hints = {"which are there?  ykctl rm list      a new one?  ykctl rm register"};
    if (error.retryable) failure.hints.emplace_back("it may work later: try again");
    if (error.code == code_of(si::ErrorCode::TooLarge)) {
        failure.hints.emplace_back("ask for less, or start ykd with a larger --max-message (up to 256MiB)");
    }
    return failure;
}

std::string text_member(const wire::Value& value, const char* key) {
    const auto found = value.find(key);
    return found != value.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

/// Line and column of a problem as `:12:9: `; `: ` for a problem of the whole text.
std::string position_of(const wire::Value& problem) {
    std::string position;
    for (const char* key : {"line", "column"}) {
        const auto found = problem.find(key);
        if (found == problem.end() || !found->is_number() || found->get<std::int64_t>() == 0) break;
        position += ":" + std::to_string(found->get<std::int64_t>());
    }
    return position + ": ";
}

/// The message of a problem behind its path, if it has one: `PATH: MESSAGE`.
std::string message_of(const wire::Value& problem) {
    const auto path = text_member(problem, "path");
    return (path.empty() ? "" : path + ": ") + text_member(problem, "message");
}

} // namespace

Failure usage_error(std::string message, std::vector<std::string> hints) {
    return {Exit::Usage, std::move(message), std::move(hints), 0, {}, {}};
}

Failure not_found(std::string message, std::vector<std::string> hints) {
    return {Exit::NotFound, std::move(message), std::move(hints), 0, {}, {}};
}

Failure outcome_unknown(const std::string& why) {
    return {Exit::Unknown,
            "outcome unknown: " + why,
            {"what came of it?  ykctl status, then list what you changed"},
            0,
            {},
            {}};
}

Failure from_call_error(const wire::CallError& error, const std::string& address) {
    using Kind = wire::CallError::Kind;
    switch (error.kind) {
    case Kind::Refused: {
        Failure failure = refused(error);
        if (failure.code == code_of(si::ErrorCode::Forbidden) && failure.hints.empty())
            failure.hints = {"what may you do here?  ykctl whoami      more:  an entry of `peers` in ykd.conf(5), or a "
                             "token (--token-file)"};
        return failure;
    }
    case Kind::Unreachable:
    case Kind::Denied: return unreachable(error, address);
    case Kind::TimedOut:
        return {Exit::Unreachable,
                "no answer from ykd at " + address + " in time: " + error.message,
                {"longer?  --timeout 30s"},
                0,
                {},
                {}};
    case Kind::OutcomeUnknown:
        return outcome_unknown("the request was sent, then ykd at " + address + " was lost: " + error.message);
    case Kind::Stopped: return {Exit::Interrupted, "interrupted", {}, 0, {}, {}};
    case Kind::TooLarge:
        return {Exit::Refused,
                "the request is larger than the daemon takes: " + error.message,
                {"split it, or raise ykd --max-message"},
                0,
                {},
                {}};
    case Kind::Malformed: break;
    }
    return {Exit::Refused,
            "the answer of ykd at " + address + " cannot be read: " + error.message,
            {"is something else listening there, or another version?  ykctl version"},
            0,
            {},
            {}};
}

Failure config_refused(const std::string& before, const std::string& file, const wire::Value& problems) {
    Failure failure;
    failure.code = code_of(si::ErrorCode::ConfigInvalid);
    failure.name = si::name(si::ErrorCode::ConfigInvalid);
    failure.details = {{"source", file}, {"problems", problems}};
    failure.message = before + file + ": the configuration is refused";
    bool is_first = true;
    for (const auto& problem : problems) {
        const auto position = file + position_of(problem);
        if (!is_first) {
            failure.hints.push_back(
                printable(position + text_member(problem, "severity") + ": " + message_of(problem)));
            continue;
        }
        is_first = false;
        failure.message = before + position + message_of(problem);
        for (const char* key : {"line", "column"})
            if (problem.contains(key)) failure.details[key] = problem[key];
        failure.details["reason"] = text_member(problem, "message");
    }
    return failure;
}

Failure with_problems(Failure failure, const std::string& file) {
    if (failure.code != code_of(si::ErrorCode::ConfigInvalid) || !failure.details.is_object() ||
        !failure.details.contains("problems"))
        return failure;
    const auto source = text_member(failure.details, "source");
    const auto& problems = failure.details["problems"];
    if (!problems.is_array() || problems.empty()) return failure;
    const auto first = source + position_of(problems.front()) + message_of(problems.front());
    const auto at = failure.message.find(first); // the daemon puts its own words around it
    const auto before = at == std::string::npos ? std::string{} : failure.message.substr(0, at);
    auto named = config_refused(before, file.empty() ? source : file, problems);
    if (at != std::string::npos) named.message += failure.message.substr(at + first.size());
    return named;
}

std::string failure_text(const Failure& failure, bool json) {
    const auto name = failure.name.empty() ? name_of(failure.exit) : failure.name;
    if (json) {
        wire::Value error{{"code", failure.code}, {"name", name}, {"message", failure.message}, {"path", failure.path}};
        if (failure.details.is_object() && !failure.details.empty()) error["details"] = failure.details;
        return json_line({{"schema", 1}, {"error", error}});
    }
    auto text = "ykctl: " + printable(failure.message);
    if (!failure.name.empty()) text += " (" + printable(failure.name) + ")";
    text += "\n";
    for (const auto& hint : failure.hints) text += "  " + printable(hint) + "\n";
    return text;
}

Exit exit_of_code(std::uint32_t code) {
    using C = si::ErrorCode;
    if (code == code_of(C::Auth) || code == code_of(C::Forbidden)) return Exit::Denied;
    if (code == code_of(C::InDoubt)) return Exit::Unknown;
    if (code == code_of(C::RmUnknown) || code == code_of(C::NotFound)) return Exit::NotFound;
    return Exit::Refused;
}

std::string element_code_name(std::int64_t code) {
    if (code < 0 || code > std::numeric_limits<std::uint32_t>::max()) return {};
    return std::string{si::name(static_cast<si::ElementCode>(code))};
}

} // namespace yk::cli
