// SPDX-License-Identifier: Apache-2.0
#include "ykctl/rm/rm_serve.h"

#include <fnmatch.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <ostream>
#include <utility>

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "libcore/config_yaml/load.h"
#include "protocol/rm/answers.h"
#include "protocol/rm/rm_client.h"
#include "protocol/si/enums.h"
#include "protocol/wire/body_reader.h"
#include "ykctl/cli/values.h"
#include "ykctl/client/connect.h"
#include "ykctl/client/end_signals.h"
#include "ykctl/output/item_text.h"
#include "ykctl/output/recovery_text.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr std::size_t kLongestConfig = std::size_t{4} << 20U; // bytes (I-316)
constexpr std::chrono::milliseconds kPollWait{500};           // how soon a signal is noticed
constexpr std::chrono::milliseconds kBusyPollWait{100};       // and that a command has ended

/// The confirmations for those releases of one message that need one: each is sent back as it came.
std::vector<si::AllocationRelease> confirmations(const Value& item) {
    std::vector<si::AllocationRelease> releases;
    for (const auto& reported : member_of(member_of(item, "body"), "released")) {
        const auto type = static_cast<si::TerminationType>(number_of(reported, "terminationType"));
        if (!needs_confirmation(type)) continue;
        auto& release = releases.emplace_back();
        release.partition_name = text_of(reported, "partitionName");
        release.application_id = text_of(reported, "applicationID");
        release.allocation_key = text_of(reported, "allocationKey");
        release.termination_type = type;
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

std::vector<std::string> capabilities(const ServeOptions& options) {
    std::vector<std::string> names{"reportIgnored"};
    if (!options.refuse.empty())
        for (const char* name : {"predicates", "preemptionPredicates"}) names.emplace_back(name);
    if (!options.config_store.empty()) names.emplace_back("configStore");
    if (!options.state_dump.empty()) names.emplace_back("stateDump");
    return names;
}

/// An item as it is printed.
Value value_of(const si::StreamItem& item) {
    Value value{{"n", item.n}, {"kind", item.kind}, {"at", item.at}};
    if (item.call) value["call"] = *item.call;
    if (item.ttl) value["ttl"] = *item.ttl;
    value["body"] = rm::body_of(item);
    if (!value["body"].is_object()) value["body"] = Value::object();
    return value;
}

Value value_of(const si::RecoveryReport& report) {
    const std::string bytes = wire::encoded(report);
    const auto body = wire::scan_body(bytes);
    return body.ok() ? wire::decode_value(*body) : Value::object();
}

/// What `rm serve` does with items, and says of what happens. Owner: serve(). Thread: main.
class Serving final : public rm::RmProgram {
public:
    /// `work`: nullptr when nothing is run for allocations.
    Serving(Context& context, const ServeOptions& options, EndSignals& signals, ServedWork* work)
        : context_(context), options_(options), signals_(signals), work_(work) {}

    /// To be called before anything is handled.
    void set_client(rm::RmClient& client) { client_ = &client; }

    rm::Handled handle(const si::StreamItem& item) override {
        const Value value = value_of(item);
        context_.out() << (context_.machine_readable() ? json_line(value) : item_line(value));
        context_.out().flush();
        if (item.call && !answer_call(value, *item.call)) return rm::Handled::Again;
        if (work_ != nullptr)
            work_->take(item, client_->state()); // it confirms when what it runs has ended
        else if (options_.registration.confirm && !confirm(value))
            return rm::Handled::Again;
        const bool is_last = options_.count && ++handled_ >= *options_.count;
        return is_last || !context_.out() ? rm::Handled::Stop : rm::Handled::Done; // or the reader has closed the pipe
    }
    bool pause(std::chrono::milliseconds time) override { return signals_.wait(time) == 0; }

    /// The file as it is by now: --config-store may have written it. Not one that the daemon would refuse.
    std::optional<std::string> configuration() override {
        const auto& file = options_.registration.config_file;
        if (!file || *file == "-") return std::nullopt;
        auto text = read_good_configuration(context_, *file);
        if (text.ok()) return std::move(text).value();
        context_.note(text.error().message + "; going on with what it was before");
        return std::nullopt;
    }

    void state_changed(rm::State from, rm::State to, const std::string& why) override {
        if (from == rm::State::New && !context_.settings().verbose) return; // registered() says more
        context_.note(fmt::format("{}: {} -> {} ({})", name(), rm::text(from), rm::text(to), why));
    }
    void daemon_is_gone(const std::string& why) override {
        context_.note(fmt::format("ykd is gone ({}); dialling {} again", why, context_.settings().address));
    }
    void daemon_answers() override { context_.note("ykd answers again"); }
    void registered(const rm::Registered& registered) override {
        if (!registered.again) return; // serve() says that
        if (work_ != nullptr && !registered.reply.kept && options_.state.empty()) work_->lost(registered.why);
        if (registered.reply.kept)
            context_.note(fmt::format("{}; serving {} again, with what it has", registered.why, name()));
        else if (options_.state.empty())
            context_.note(fmt::format("{}; {} is registered anew, without what it had (rm serve --state FILE keeps it)",
                                      registered.why, name()));
    }
    void reports(const si::RecoveryCounts& counts, const std::string& why) override {
        context_.note(fmt::format("{}reporting {}, {}, {} and {}", why.empty() ? why : why + "; ",
                                  pluralize(counts.nodes, "node"), pluralize(counts.applications, "application"),
                                  pluralize(counts.allocations, "allocation"),
                                  pluralize(counts.asks.value_or(0), "pending ask")));
    }
    void corrects(const rm::Differences& what) override {
        context_.note(
            fmt::format("sending {} that ykd lacks, {} that it has otherwise and {} that it has in quarantine, "
                        "releasing {} that {} does not have",
                        what.missing, what.changed, what.set_aside, what.surplus, name()));
    }
    void recovered(const si::RecoveryReport& report) override {
        if (report.result == "running") return context_.note("recovered: running");
        context_.note(recovery_sentence(value_of(report)));
        context_.note(
            report.result == "retry"
                ? std::string{"comparing, to correct what differs"}
                : fmt::format("nothing is placed for {0} until somebody decides:  ykctl recovery resolve "
                              "retry|reset|accept|abort {0}      what is there?  ykctl recovery list KIND {0}",
                              name()));
    }
    void books_fault(const std::string& fault) override {
        context_.note(fault.empty() ? "the state file is written again"
                                    : fmt::format("the state file cannot be written: {}; nothing is acknowledged until "
                                                  "it can",
                                                  fault));
    }

private:
    [[nodiscard]] const std::string& name() const { return client_->rm_id(); }

    /// Sends the daemon the answer to a call, or why there is none.
    bool answer_call(const Value& item, std::uint64_t call) {
        si::CallResultRequest reply;
        reply.rm_id = name();
        reply.stream_epoch = client_->epoch();
        reply.call = call;
        auto result = call_result(context_, item, options_);
        reply.ok = result.ok();
        if (result.ok())
            reply.result = std::move(result).value();
        else
            reply.error = result.error().message;
        return client_->send(reply).ok();
    }

    bool confirm(const Value& item) {
        si::AllocationRequest confirmation;
        confirmation.rm_id = name();
        confirmation.releases.allocations_to_release = confirmations(item);
        return confirmation.releases.allocations_to_release.empty() || client_->send(confirmation).ok();
    }

    Context& context_;
    const ServeOptions& options_;
    EndSignals& signals_;
    ServedWork* const work_;
    rm::RmClient* client_ = nullptr;
    std::int64_t handled_ = 0;
};

/// Prints how the RM was registered, before the first message.
void announce(Context& context, const ServeOptions& options, const std::string& id, bool kept) {
    const auto& wanted = options.registration;
    const char* const stays = options.state.empty() ? "the RM stays registered (ykctl rm deregister)"
                                                    : "the RM stays registered, and its state in the file";
    if (!kept) return context.note("serving " + id + "; Ctrl-C ends it, " + stays);
    context.note("serving " + id + " again, with what it has; Ctrl-C ends it, " + stays);
    if (wanted.config_file || !wanted.extra.empty())
        context.note("its configuration stays as it was; change it with ykctl config reload -f, or start anew with "
                     "--force, which drops what the RM has");
    if (wanted.recovery.id)
        context.note(
            "no recovery begins, since nothing was lost; start anew with --force, which drops what the RM has");
}

/// The RM's books; nullptr when none are wanted.
Answer<std::unique_ptr<rm::StreamBooks>> open_books(const ServeOptions& options, const std::string& id) {
    if (options.state.empty()) return std::unique_ptr<rm::StreamBooks>{};
    if (options.registration.recovery.id)
        return usage_error("either --state or --recovery: with --state the RM recovers by itself");
    static_cast<void>(std::signal(SIGXFSZ, SIG_IGN)); // a file that may not grow is a fault of that file
    auto books = rm::StreamBooks::open(options.state, id);
    if (!books.ok()) return usage_error("--state " + books.error().message);
    return std::move(books).value();
}

/// How often the RM went from which state to which, for whoever looks why it was away (I-203).
std::string transitions_text(const rm::RmClient& client) {
    std::string text;
    std::uint64_t sum = 0;
    for (const rm::Transition& each : client.transitions()) {
        text += fmt::format("{}{} -> {} {}", sum == 0 ? "" : ", ", rm::text(each.from), rm::text(each.to), each.times);
        sum += each.times;
    }
    return fmt::format("{} changed its state {}: {}", client.rm_id(), pluralize(sum, "time"), text);
}

using Went = wire::CallResult<rm::Went>;

/// The commands of what the books have, once they are up to date: what was released while nobody served the RM is not
/// begun.
Went take_up_work(rm::RmClient& client, ServedWork& work, rm::StreamBooks* books, bool kept) {
    auto went = Went{rm::Went::On};
    if (kept) went = client.drain();
    if (!went.ok()) went = rm::Went::On; // the next step says what that means
    work.take_up(books, kept);
    return went;
}

/// Polls until a signal or `count` ends it, and what is run with it.
Went poll_and_work(rm::RmClient& client, ServedWork* work, rm::StreamBooks* books, bool kept, EndSignals& signals) {
    auto went = work != nullptr ? take_up_work(client, *work, books, kept) : Went{rm::Went::On};
    while (went.ok() && *went == rm::Went::On && signals.wait(std::chrono::milliseconds{0}) == 0) {
        went = client.step(work != nullptr && work->is_busy() ? kBusyPollWait : kPollWait);
        if (work != nullptr) work->send(client);
    }
    if (work == nullptr) return went;
    work->end();
    work->send(client);
    return went;
}

/// Registers, and polls until a signal or `count` ends it.
Outcome serve_by(rm::RmClient& client, Context& context, const ServeOptions& options, EndSignals& signals,
                 ServedWork* work, rm::StreamBooks* books) {
    const auto& address = context.settings().address;
    const auto registered = client.begin();
    if (!registered.ok()) return not_registered(from_call_error(registered.error(), address), options.registration);
    if (options.registration.if_not_registered && registered->reply.kept) {
        context.note("rm " + client.rm_id() + " is registered already; nothing was changed");
        return Exit::Ok;
    }
    announce(context, options, client.rm_id(), registered->reply.kept);
    auto went = poll_and_work(client, work, books, registered->reply.kept, signals);
    if (went.ok()) went = client.end();
    context.note(transitions_text(client));
    const int signal = signals.wait(std::chrono::milliseconds{0});
    if (!went.ok() && signal == 0) {
        auto failure = from_call_error(went.error(), address);
        if (failure.name == "E_SUPERSEDED")
            failure.message = "another process took RM " + client.rm_id() + " over: " + failure.message;
        return failure;
    }
    return signal == SIGINT ? Exit::Interrupted : Exit::Ok;
}

} // namespace

Outcome serve(Context& context, const ServeOptions& options) {
    auto wanted = options.registration;
    if (wanted.id.empty()) wanted.id = context.settings().rm.value_or("rm:1");
    EndSignals signals;
    YK_TRY(request, registration(context, wanted, "resume"));
    request.capabilities = capabilities(options);
    YK_TRY(books, open_books(options, wanted.id));
    YK_TRY(work, ServedWork::start(context, options.work, {wanted.id, options.state, wanted.confirm}, signals));
    YK_TRY(connection, connect(context.settings()));
    const auto watch = [&context](std::string_view kind, bool answered, std::chrono::steady_clock::duration took) {
        if (context.settings().verbose)
            context.streams().err << fmt::format("ykctl: {} {} in {:.1f} ms\n", kind, answered ? "answered" : "failed",
                                                 std::chrono::duration<double, std::milli>{took}.count());
    };
    rm::ClientLink link{*connection, watch};
    Serving serving{context, options, signals, work.get()};
    rm::RmClient::Options how;
    how.registration = std::move(request);
    if (context.settings().timeout) how.patience = *context.settings().timeout;
    rm::RmClient client{link, serving, books.get(), std::move(how)};
    serving.set_client(client);
    Outcome outcome = serve_by(client, context, options, signals, work.get(), books.get());
    if (!client.is_alone()) connection->bye();
    return outcome;
}

} // namespace yk::cli
