#include "ykctl/commands/rm_serve.h"

#include <fnmatch.h>

#include <algorithm>
#include <csignal>
#include <ostream>
#include <thread>

#include "libcore/config_yaml/load.h"
#include "protocol/si/enums.h"
#include "ykctl/commands/item_text.h"
#include "ykctl/commands/values.h"
#include "ykctl/commands/watch.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr std::size_t kLongestConfig = std::size_t{4} << 20U; // I-316
constexpr std::int64_t kPollWaitMs = 500;                     // how soon a signal is noticed

bool needs_confirmation(const Value& release) {
    using T = si::TerminationType;
    const auto type = number_of(release, "terminationType");
    return type == static_cast<int>(T::Timeout) || type == static_cast<int>(T::PreemptedByScheduler) ||
           type == static_cast<int>(T::PlaceholderReplaced);
}

/// The releases of one message that want an answer, as that answer.
Value confirmations(const Value& item) {
    auto releases = Value::array();
    for (const auto& release : member_of(member_of(item, "body"), "released")) {
        if (needs_confirmation(release)) releases.push_back(release);
    }
    return releases;
}

/// What the globs say of a node, as an element of `results` (I-051).
Value verdict(const std::string& node, const std::vector<std::string>& refuse) {
    for (const std::string& glob : refuse)
        if (::fnmatch(glob.c_str(), node.c_str(), 0) == 0)
            return {{"nodeID", node}, {"fits", false}, {"reason", "refused by --refuse " + glob}};
    return {{"nodeID", node}, {"fits", true}};
}

/// Writes the configuration that somebody gave the RM; what cannot be written is not applied (I-184).
Value stored(const Value& body, const std::string& path, std::istream& in) {
    const auto former = read_text(path, in);
    if (const auto failure = write_text(path, text_of(body, "configs")))
        return {{"success", false}, {"reason", failure->message}};
    return {{"success", true}, {"oldConfig", former.ok() ? *former : std::string{}}};
}

/// The answer to a call (4.9). Victims: no more than have to go anyway, unless the node is refused.
Answer<Value> call_result(Context& context, const Value& item, const ServeOptions& options) {
    const auto& body = member_of(item, "body");
    const auto kind = text_of(item, "kind");
    const auto& refuse = options.refuse;
    if (kind == "UpdateConfiguration") return stored(body, options.config_store, context.streams().in);
    if (kind == "GetStateDump") {
        YK_TRY(state, read_text(options.state_dump, context.streams().in, kLongestConfig));
        return Value{{"stateDump", std::move(state)}};
    }
    if (kind == "PreemptionPredicates") {
        const bool fits = flag_of(verdict(text_of(body, "nodeID"), refuse), "fits");
        return Value{{"success", fits}, {"index", fits ? number_of(body, "startIndex") : -1}};
    }
    auto results = Value::array();
    for (const auto& node : member_of(body, "nodes"))
        if (node.is_string()) results.push_back(verdict(node.get<std::string>(), refuse));
    return Value{{"results", std::move(results)}};
}

/// One that polls.
struct Served {
    std::string rm;
    std::int64_t epoch = 0;
    const ServeOptions& options;
};

/// Tells the daemon the answer, or why there is none.
std::optional<Failure> answer_call(Context& context, const Served& served, const Value& item, std::int64_t call) {
    Value reply{{"rmID", served.rm}, {"streamEpoch", served.epoch}, {"call", call}};
    auto result = call_result(context, item, served.options);
    reply["ok"] = result.ok();
    if (result.ok())
        reply["result"] = std::move(result).value();
    else
        reply["error"] = result.error().message;
    auto answered = context.call("CallResult", std::move(reply));
    if (!answered.ok()) return answered.error();
    return std::nullopt;
}

std::optional<Failure> handle(Context& context, const Served& served, const Value& item) {
    context.out() << (context.machine_readable() ? json_line(item) : item_line(item));
    context.out().flush();
    if (const auto call = number_of(item, "call"); call > 0)
        if (auto failure = answer_call(context, served, item, call)) return failure;
    auto releases = served.options.registration.confirm ? confirmations(item) : Value::array();
    if (releases.empty()) return std::nullopt;
    auto sent = context.call("UpdateAllocation",
                             {{"rmID", served.rm}, {"releases", {{"allocationsToRelease", std::move(releases)}}}});
    if (!sent.ok()) return sent.error();
    return std::nullopt;
}

} // namespace

Answer<std::string> read_configuration(Context& context, const std::string& path, std::vector<std::string> hints) {
    YK_TRY(text, read_text(path, context.streams().in, kLongestConfig));
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
        return usage_error(shown_name(path) + ": is empty; as a configuration it would drain every queue",
                           std::move(hints));
    }
    return text;
}

Value problem_value(const config_yaml::Problem& problem) {
    return {{"line", problem.mark.line},
            {"column", problem.mark.column},
            {"path", problem.path},
            {"message", problem.message},
            {"severity", problem.severity == config_yaml::Severity::Error ? "error" : "warning"}};
}

namespace {

/// A registration empties the RM before the daemon has read its configuration (I-122): what the daemon would refuse
/// must not get that far.
Answer<std::string> read_good_configuration(Context& context, const std::string& path) {
    YK_TRY(text, read_configuration(context, path, {"the built-in default configuration?  leave --config out"}));
    const auto name = shown_name(path);
    const auto outcome = config_yaml::load(text, name);
    if (outcome.configuration) return text;
    auto problems = Value::array();
    for (const auto& problem : outcome.problems) problems.push_back(problem_value(problem));
    auto failure = config_refused({}, name, problems);
    failure.hints.emplace_back("nothing was sent to ykd");
    return failure;
}

} // namespace

std::string shown_config(const RegisterOptions& options) {
    return options.config_file ? shown_name(*options.config_file) : std::string{};
}

Answer<Value> registration(Context& context, const RegisterOptions& options, const char* if_registered) {
    if (options.force && options.if_not_registered) return usage_error("either --force or --if-not-registered");
    Value body{{"rmID", options.id},
               {"version", context.version()},
               {"policyGroup", options.policy_group},
               {"ifRegistered", options.force               ? "drop"
                                : options.if_not_registered ? "leave"
                                                            : if_registered}};
    if (options.config_file) {
        YK_TRY(text, read_good_configuration(context, *options.config_file));
        body["config"] = std::move(text);
    }
    if (!options.extra.empty()) {
        YK_TRY(extra, parse_pairs(options.extra, "--extra"));
        body["extraConfig"] = std::move(extra);
    }
    return body;
}

Failure not_registered(Failure failure, const RegisterOptions& options) {
    if (failure.name == "E_BUSY_STATE") {
        failure.hints = {"drop all of it:  --force      leave it as it is:  --if-not-registered"};
        return failure;
    }
    return with_problems(std::move(failure), shown_config(options));
}

namespace {

constexpr std::chrono::milliseconds kGoing{1000}; // within which a process that was ended is no longer seen

/// Registers, or goes on with what the RM has. That the daemon sees a process which was killed a moment ago is waited
/// out.
Answer<Value> register_to_serve(Context& context, const Value& body) {
    const auto until = std::chrono::steady_clock::now() + kGoing;
    while (true) {
        auto answer = context.call("RegisterResourceManager", body);
        if (answer.ok() || !flag_of(answer.error().details, "served") || std::chrono::steady_clock::now() >= until)
            return answer;
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
    }
}

/// What the person is told before the first message.
void announce(Context& context, const RegisterOptions& wanted, const Value& registered) {
    if (!flag_of(registered, "kept"))
        return context.note("serving " + wanted.id + "; Ctrl-C ends it, the RM stays registered (ykctl rm deregister)");
    context.note("serving " + wanted.id + " again, with what it has; Ctrl-C ends it, the RM stays registered");
    if (wanted.config_file || !wanted.extra.empty())
        context.note("its configuration stays as it was; change it with ykctl config reload -f, or start anew with "
                     "--force, which drops what the RM has");
}

Value capabilities(const ServeOptions& options) {
    auto names = Value::array({"reportIgnored"});
    if (!options.refuse.empty())
        for (const char* name : {"predicates", "preemptionPredicates"}) names.push_back(name);
    if (!options.config_store.empty()) names.push_back("configStore");
    if (!options.state_dump.empty()) names.push_back("stateDump");
    return names;
}

} // namespace

Outcome serve(Context& context, const ServeOptions& options) {
    auto wanted = options.registration;
    if (wanted.id.empty()) wanted.id = context.settings().rm.value_or("rm:1");
    const HeldSignals signals;
    YK_TRY(body, registration(context, wanted, "resume"));
    body["capabilities"] = capabilities(options);
    auto registered = register_to_serve(context, body);
    if (!registered.ok()) return not_registered(std::move(registered).error(), wanted);
    if (wanted.if_not_registered && flag_of(*registered, "kept")) {
        context.note("rm " + wanted.id + " is registered already; nothing was changed");
        return Exit::Ok;
    }
    announce(context, wanted, *registered);
    const Served served{wanted.id, number_of(*registered, "streamEpoch"), options};
    std::int64_t acknowledged = number_of(*registered, "lastAck");
    std::int64_t handled = 0;
    const auto poll = [&](std::int64_t wait_ms) {
        return context.call(
            "Poll", {{"rmID", wanted.id}, {"streamEpoch", served.epoch}, {"ack", acknowledged}, {"waitMs", wait_ms}});
    };
    // What was handled is not for the next one that serves.
    const auto end = [&](Exit exit) -> Outcome {
        const auto told = poll(0);
        if (!told.ok()) return told.error();
        return exit;
    };
    while (true) {
        const int signal = signals.wait(std::chrono::milliseconds{0});
        if (signal != 0) return end(signal == SIGINT ? Exit::Interrupted : Exit::Ok);
        YK_TRY(reply, poll(kPollWaitMs));
        for (const auto& item : member_of(reply, "items")) {
            const auto number = number_of(item, "n");
            if (number <= acknowledged) continue; // I-365
            if (auto failure = handle(context, served, item)) return *failure;
            acknowledged = number;
            if (options.count && ++handled >= *options.count) return end(Exit::Ok);
        }
        if (!context.out()) return Exit::Ok; // the reader has gone
    }
}

} // namespace yk::cli
