// SPDX-License-Identifier: Apache-2.0
#include "ykctl/work/served_work.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <utility>

#include "protocol/rm/answers.h"
#include "protocol/si/request_item.h"
#include "protocol/wire/body_reader.h"
#include "protocol/wire/codec.h"
#include "protocol/work/output.h"
#include "ykctl/render/json_text.h"
#include "ykctl/render/text.h"
#include "ykctl/work/line_output.h"

namespace yk::cli {
namespace {

constexpr std::uint64_t kMostOutput = 10U << 20U; // bytes, of a file or of a command on standard error
constexpr std::size_t kReleasesAtOnce = 1000;
constexpr std::int64_t kMostCommands = 100'000;
constexpr std::chrono::milliseconds kMoment{2000}; // for what follows when a command has ended
constexpr std::string_view kDebug = "debug: ";

using Outputs = std::function<Result<std::unique_ptr<work::Output>>(const si::Allocation&)>;

Answer<Outputs> outputs(const std::string& folder) {
    if (folder.empty())
        return Outputs{[](const si::Allocation& allocation) -> Result<std::unique_ptr<work::Output>> {
            const std::string name = printable(allocation.application_id + "/" + allocation.allocation_key);
            return std::unique_ptr<work::Output>{std::make_unique<LineOutput>(STDERR_FILENO, name + ": ", kMostOutput)};
        }};
    auto opened = work::OutputFolder::open(folder, kMostOutput);
    if (!opened.ok()) return usage_error("--output " + opened.error().text());
    // On the thread of the commands, as the lines that a command has on standard error.
    opened->on_shortage([](bool /*is_short*/, const std::string& sentence) {
        LineOutput{STDERR_FILENO, "ykctl: ", kMostOutput}.write(sentence + "\n");
    });
    const auto shared = std::make_shared<work::OutputFolder>(std::move(opened).value());
    return Outputs{
        [shared](const si::Allocation& allocation) { return shared->file(work::output_file_name(allocation)); }};
}

/// The commands of `--on allocation=COMMAND` and `--on release=COMMAND`.
std::optional<Failure> take_hooks(const std::vector<std::string>& texts, work::AllocationWork::Options& how) {
    for (const std::string& text : texts) {
        const auto sign = text.find('=');
        const std::string when = text.substr(0, sign);
        const std::string command = sign == std::string::npos ? std::string{} : text.substr(sign + 1);
        if ((when != "allocation" && when != "release") || command.empty())
            return usage_error("--on " + shortened(text, 60) + ": it is allocation=COMMAND or release=COMMAND");
        (when == "allocation" ? how.on_allocation : how.on_release).push_back(command);
    }
    return std::nullopt;
}

std::string json_of(const si::AllocationRelease& release) {
    const std::string bytes = wire::encoded(release);
    const auto body = wire::scan_body(bytes);
    return json_line(body.ok() ? wire::decode_value(*body) : wire::Value::object());
}

std::string json_at(const wire::Value& list, std::size_t index) {
    return json_line(list.is_array() && index < list.size() ? list[index] : wire::Value::object());
}

} // namespace

bool needs_confirmation(si::TerminationType type) {
    using T = si::TerminationType;
    return type == T::Timeout || type == T::PreemptedByScheduler || type == T::PlaceholderReplaced;
}

void define_work_options(Command command, WorkOptions& options) {
    command.flag("--exec", options.executes,
                 "start for each allocation what the tag command of its ask says, such as  --tag command='sleep 5'");
    command.option("--grace", options.grace, "time between SIGTERM and SIGKILL for a command, default 10s");
    command.option("--output", options.output, "a file for the output of each, default: standard error").value("DIR");
    command
        .option("--restart", options.restart,
                "when a command that ended is started again, unless its tag restart says; default never")
        .choices({"never", "on-failure", "always"});
    command.option("--max-commands", options.most_commands, "so many run at once, default 1000; the others wait");
    command
        .option(
            "--on", options.hooks,
            "run this when an allocation was made or released: allocation=COMMAND, release=COMMAND; may be repeated")
        .value("WHEN=COMMAND");
    command.option("--hook-timeout", options.hook_timeout, "a hook is ended after this time, default 30s");
}

Answer<std::unique_ptr<ServedWork>> ServedWork::start(Context& context, const WorkOptions& options, Rm rm,
                                                      EndSignals& signals) {
    if (!options.executes && options.hooks.empty()) return std::unique_ptr<ServedWork>{};
    if (options.most_commands < 1 || options.most_commands > kMostCommands)
        return usage_error("--max-commands: from 1 to " + std::to_string(kMostCommands));
    work::AllocationWork::Options how;
    how.rm_id = rm.id;
    how.executes = options.executes;
    how.held = true;
    how.restart = work::find_restart(options.restart).value_or(work::Restart::Never);
    how.most_commands = static_cast<std::size_t>(options.most_commands);
    how.hook_timeout = options.hook_timeout;
    how.base_environment = work::base_environment();
    if (auto failure = take_hooks(options.hooks, how)) return *std::move(failure);
    YK_TRY(made_outputs, outputs(options.output));
    how.output = std::move(made_outputs);
    work::Commands::Options commands;
    commands.grace = options.grace;
    commands.may_be_root = true; // a person started it, and knows as whom
    commands.uses_cgroups = options.executes;
    if (!rm.state.empty()) commands.record = rm.state + ".commands";
    auto started = work::Worker::start(std::move(commands), std::move(how));
    if (!started.ok()) return usage_error(started.error().text());
    const std::shared_ptr<work::Worker> worker = std::move(started).value();
    if (const auto count = worker->commands().left_over(); count != 0)
        context.note("ended what an earlier rm serve had started and left: " + std::to_string(count) +
                     (count == 1 ? " process" : " processes"));
    const work::Cgroups* const cgroups = worker->commands().cgroups();
    const std::string& why = cgroups != nullptr ? cgroups->no_limits() : worker->commands().no_cgroups();
    if (options.executes && !why.empty())
        context.note("what a command may use of memory and processors is not enforced: " + why);
    static_cast<void>(std::signal(SIGPIPE, SIG_IGN)); // whoever read what it says has gone: commands go on
    const auto patience = options.grace + (options.hooks.empty() ? kMoment : kMoment + options.hook_timeout);
    signals.on_signal([worker] { worker->stop(); }, patience + kMoment);
    return std::unique_ptr<ServedWork>{new ServedWork{context, std::move(rm), worker, patience}};
}

void ServedWork::take(const si::StreamItem& item, rm::State state) {
    if (item.kind != si::item::kUpdateAllocation) return;
    const auto scanned = wire::scan_body(item.body.bytes);
    if (!scanned.ok()) return;
    auto response = wire::decode<si::AllocationResponse>(*scanned);
    if (!response.ok()) return;
    const wire::Value body = wire::decode_value(*scanned);
    for (std::size_t i = 0; i < response->made.size(); ++i)
        worker_->placed({std::move(response->made[i]), json_at(rm::member_of(body, "new"), i)});
    for (std::size_t i = 0; i < response->released.size(); ++i) {
        const bool confirms = rm_.confirms && needs_confirmation(response->released[i].termination_type);
        worker_->released({std::move(response->released[i]), json_at(rm::member_of(body, "released"), i)}, confirms);
    }
    const bool recovering = state == rm::State::Recovering;
    take_refused(response->rejected, recovering);
    take_refused(response->rejected_allocations, recovering);
}

/// What the core did not restore, or set aside, is gone. What somebody else sent and was refused changes nothing; it
/// has `element` where books are kept, and without books nothing is restored.
void ServedWork::take_refused(const std::vector<si::RejectedAllocation>& refused, bool recovering) {
    if (rm_.state.empty()) return;
    for (const si::RejectedAllocation& each : refused) {
        if (each.element && !recovering) continue;
        si::AllocationRelease release;
        release.partition_name = each.partition_name;
        release.application_id = each.application_id;
        release.allocation_key = each.allocation_key;
        release.message = each.reason;
        std::string json = json_of(release);
        worker_->refused({std::move(release), std::move(json)});
    }
}

void ServedWork::take_up(rm::StreamBooks* books, bool kept) {
    take_from(books, kept);
    worker_->let_go();
}

void ServedWork::take_from(rm::StreamBooks* books, bool kept) {
    if (books == nullptr) {
        if (kept)
            context_.note(
                "if something was placed before, it is not started again; rm serve --state FILE would know of it");
        return;
    }
    if (!books->is_kept()) return context_.note("the state file cannot be read now: " + books->fault());
    const auto read = books->each_allocation([this](si::Allocation each) { worker_->had(std::move(each)); });
    if (!read.ok()) context_.note("the state file cannot be read: " + read.error().text());
}

void ServedWork::lost(const std::string& why) {
    worker_->lost(why, json_of);
}

void ServedWork::send(rm::RmClient& client) {
    say();
    if (client.state() != rm::State::Running || client.is_alone()) return;
    while (true) {
        si::AllocationRequest request;
        request.rm_id = rm_.id;
        request.releases.allocations_to_release = worker_->take_releases(kReleasesAtOnce);
        if (request.releases.allocations_to_release.empty()) return;
        if (client.send(request).ok()) continue;
        return worker_->put_back(std::move(request.releases.allocations_to_release));
    }
}

void ServedWork::say() {
    for (const std::string& each : worker_->take_notes()) {
        const bool is_debug = each.rfind(kDebug, 0) == 0;
        if (!is_debug || context_.settings().verbose) context_.note(is_debug ? each.substr(kDebug.size()) : each);
    }
}

void ServedWork::end() {
    worker_->stop();
    if (!worker_->wait_until_idle(patience_)) context_.note("some hooks or commands do not end, and are killed");
}

} // namespace yk::cli
