// SPDX-License-Identifier: Apache-2.0
#include "ykctl/commands/rm_serve.h"

#include <fnmatch.h>

#include <algorithm>
#include <csignal>
#include <ostream>
#include <thread>

#include "libcore/config_yaml/load.h"
#include "protocol/si/enums.h"
#include "protocol/wire/body_reader.h"
#include "ykctl/cli/values.h"
#include "ykctl/client/watch.h"
#include "ykctl/output/item_text.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr std::size_t kLongestConfig = std::size_t{4} << 20U; // bytes (I-316)
constexpr std::uint32_t kPollWaitMs = 500;                    // how soon a signal is noticed

bool needs_confirmation(const Value& release) {
    using T = si::TerminationType;
    const auto type = number_of(release, "terminationType");
    return type == static_cast<int>(T::Timeout) || type == static_cast<int>(T::PreemptedByScheduler) ||
           type == static_cast<int>(T::PlaceholderReplaced);
}

/// The confirmations for those releases of one message that need one: each is sent back as it came.
std::vector<si::AllocationRelease> confirmations(const Value& item) {
    std::vector<si::AllocationRelease> releases;
    for (const auto& reported : member_of(member_of(item, "body"), "released")) {
        if (!needs_confirmation(reported)) continue;
        auto& release = releases.emplace_back();
        release.partition_name = text_of(reported, "partitionName");
        release.application_id = text_of(reported, "applicationID");
        release.allocation_key = text_of(reported, "allocationKey");
        release.termination_type = static_cast<si::TerminationType>(number_of(reported, "terminationType"));
        release.message = text_of(reported, "message");
        release.keep_asks = flag_of(reported, "keepAsks");
    }
    return releases;
}

/// Whether a glob refuses the node, as an element of `results` (I-051).
si::NodeVerdict verdict(const std::string& node, const std::vector<std::string>& refuse) {
    for (const std::string& glob : refuse)
        if (::fnmatch(glob.c_str(), node.c_str(), 0) == 0) return {node, false, "refused by --refuse " + glob};
    return {node, true, {}};
}

/// Writes the configuration that somebody gave the RM. One that cannot be written is not applied (I-184).
Value stored(const Value& body, const std::string& path, std::istream& in) {
    const auto former = read_text(path, in);
    if (const auto failure = write_text(path, text_of(body, "configs")))
        return {{"success", false}, {"reason", failure->message}};
    return {{"success", true}, {"oldConfig", former.ok() ? *former : std::string{}}};
}

/// The answer to a call (4.9). Of victims it accepts the smallest number, unless the node is refused.
Answer<si::EncodedMap> call_result(Context& context, const Value& item, const ServeOptions& options) {
    const auto& body = member_of(item, "body");
    const auto kind = text_of(item, "kind");
    const auto& refuse = options.refuse;
    if (kind == "UpdateConfiguration") // CallResultBody has no `oldConfig`, which the daemon does not read
        return si::EncodedMap{wire::encoded_value(stored(body, options.config_store, context.streams().in))};
    si::CallResultBody result;
    if (kind == "GetStateDump") {
        YK_TRY(state, read_text(options.state_dump, context.streams().in, kLongestConfig));
        result.state_dump = std::move(state);
    } else if (kind == "PreemptionPredicates") {
        result.success = verdict(text_of(body, "nodeID"), refuse).fits;
        if (result.success) result.index = static_cast<std::int32_t>(number_of(body, "startIndex"));
    } else {
        for (const auto& node : member_of(body, "nodes"))
            if (node.is_string()) result.results.push_back(verdict(node.get<std::string>(), refuse));
    }
    return si::EncodedMap{wire::encoded(result)};
}

/// The RM that is served.
struct Served {
    std::string rm;
    std::uint64_t epoch = 0;
    const ServeOptions& options;
};

/// Sends the daemon the answer to a call, or why there is none.
std::optional<Failure> answer_call(Context& context, const Served& served, const Value& item, std::uint64_t call) {
    si::CallResultRequest reply;
    reply.rm_id = served.rm;
    reply.stream_epoch = served.epoch;
    reply.call = call;
    auto result = call_result(context, item, served.options);
    reply.ok = result.ok();
    if (result.ok())
        reply.result = std::move(result).value();
    else
        reply.error = result.error().message;
    auto answered = context.call(reply);
    if (!answered.ok()) return answered.error();
    return std::nullopt;
}

std::optional<Failure> handle(Context& context, const Served& served, const Value& item) {
    context.out() << (context.machine_readable() ? json_line(item) : item_line(item));
    context.out().flush();
    if (const auto call = number_of(item, "call"); call > 0)
        if (auto failure = answer_call(context, served, item, static_cast<std::uint64_t>(call))) return failure;
    if (!served.options.registration.confirm) return std::nullopt;
    si::AllocationRequest confirmation;
    confirmation.rm_id = served.rm;
    confirmation.releases.allocations_to_release = confirmations(item);
    if (confirmation.releases.allocations_to_release.empty()) return std::nullopt;
    auto sent = context.call(confirmation);
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

/// Reads a configuration that the daemon would accept. A registration drops the objects of the RM before the daemon has
/// read the configuration (I-122), so a bad one must not be sent.
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

Answer<si::RegisterResourceManagerRequest> registration(Context& context, const RegisterOptions& options,
                                                        const char* if_registered) {
    if (options.force && options.if_not_registered) return usage_error("either --force or --if-not-registered");
    si::RegisterResourceManagerRequest request;
    request.rm_id = options.id;
    request.version = context.version();
    request.policy_group = options.policy_group;
    request.if_registered = options.force ? "drop" : options.if_not_registered ? "leave" : if_registered;
    if (options.config_file) {
        YK_TRY(text, read_good_configuration(context, *options.config_file));
        request.config = std::move(text);
    }
    if (!options.extra.empty()) {
        YK_TRY(extra, parse_pairs(options.extra, "--extra"));
        request.extra_config = std::move(extra);
    }
    YK_TRY(recovery, recovery_request(options.recovery));
    request.recovery = std::move(recovery);
    return request;
}

Failure not_registered(Failure failure, const RegisterOptions& options) {
    if (failure.name == "E_BUSY_STATE") {
        failure.hints = {"drop all of it:  --force      leave it as it is:  --if-not-registered"};
        return failure;
    }
    if (failure.name == "E_RECOVERY_REQUIRED") {
        failure.hints = {"report what it has under a name of your choice:  --recovery ID"};
        return failure;
    }
    return with_problems(std::move(failure), shown_config(options));
}

namespace {

constexpr std::chrono::milliseconds kGoing{1000}; // in which the daemon notices that a process has ended

/// Registers, or resumes with the objects that the RM has. Waits a moment when the daemon has not yet noticed that the
/// last process which served the RM was killed.
Answer<Value> register_to_serve(Context& context, const si::RegisterResourceManagerRequest& request) {
    const auto until = std::chrono::steady_clock::now() + kGoing;
    while (true) {
        auto answer = context.call(request);
        if (answer.ok() || !flag_of(answer.error().details, "served") || std::chrono::steady_clock::now() >= until)
            return answer;
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
    }
}

/// Prints how the RM was registered, before the first message.
void announce(Context& context, const RegisterOptions& wanted, const Value& registered) {
    if (!flag_of(registered, "kept"))
        return context.note("serving " + wanted.id + "; Ctrl-C ends it, the RM stays registered (ykctl rm deregister)");
    context.note("serving " + wanted.id + " again, with what it has; Ctrl-C ends it, the RM stays registered");
    if (wanted.config_file || !wanted.extra.empty())
        context.note("its configuration stays as it was; change it with ykctl config reload -f, or start anew with "
                     "--force, which drops what the RM has");
    if (wanted.recovery.id)
        context.note(
            "no recovery begins, since nothing was lost; start anew with --force, which drops what the RM has");
}

std::vector<std::string> capabilities(const ServeOptions& options) {
    std::vector<std::string> names{"reportIgnored"};
    if (!options.refuse.empty())
        for (const char* name : {"predicates", "preemptionPredicates"}) names.emplace_back(name);
    if (!options.config_store.empty()) names.emplace_back("configStore");
    if (!options.state_dump.empty()) names.emplace_back("stateDump");
    return names;
}

} // namespace

Outcome serve(Context& context, const ServeOptions& options) {
    auto wanted = options.registration;
    if (wanted.id.empty()) wanted.id = context.settings().rm.value_or("rm:1");
    const HeldSignals signals;
    YK_TRY(request, registration(context, wanted, "resume"));
    request.capabilities = capabilities(options);
    auto registered = register_to_serve(context, request);
    if (!registered.ok()) return not_registered(std::move(registered).error(), wanted);
    if (wanted.if_not_registered && flag_of(*registered, "kept")) {
        context.note("rm " + wanted.id + " is registered already; nothing was changed");
        return Exit::Ok;
    }
    announce(context, wanted, *registered);
    const Served served{wanted.id, static_cast<std::uint64_t>(number_of(*registered, "streamEpoch")), options};
    std::int64_t acknowledged = number_of(*registered, "lastAck");
    std::int64_t handled = 0;
    const auto poll = [&](std::uint32_t wait_ms) {
        si::PollRequest polled;
        polled.rm_id = wanted.id;
        polled.stream_epoch = served.epoch;
        polled.ack = static_cast<std::uint64_t>(acknowledged);
        polled.wait_ms = wait_ms;
        return context.call(polled);
    };
    // Messages that were handled are acknowledged, so that the next process which serves does not get them.
    const auto end = [&](Exit exit) -> Outcome {
        const auto polled = poll(0);
        if (!polled.ok()) return polled.error();
        return exit;
    };
    while (true) {
        const int signal = signals.wait(std::chrono::milliseconds{0});
        if (signal != 0) return end(signal == SIGINT ? Exit::Interrupted : Exit::Ok);
        YK_TRY(reply, poll(kPollWaitMs));
        for (const auto& item : member_of(reply, "items")) {
            const auto number = number_of(item, "n");
            if (number <= acknowledged) continue; // it was handled already (I-365)
            if (auto failure = handle(context, served, item)) return *failure;
            acknowledged = number;
            if (options.count && ++handled >= *options.count) return end(Exit::Ok);
        }
        if (!context.out()) return Exit::Ok; // the reader has closed the pipe
    }
}

} // namespace yk::cli
