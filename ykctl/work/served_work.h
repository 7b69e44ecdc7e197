// SPDX-License-Identifier: Apache-2.0
#pragma once
// ServedWork: commands and hooks for the allocations of an RM that `rm serve` serves: its options, what it makes of
// items of the stream, and what it sends because of what has ended.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/rm/rm_client.h"
#include "protocol/rm/stream_books.h"
#include "protocol/si/messages.h"
#include "protocol/work/worker.h"
#include "ykctl/cli/command.h"
#include "ykctl/client/context.h"
#include "ykctl/client/end_signals.h"

namespace yk::cli {

struct WorkOptions {
    bool executes = false; // starts what the tags `command` say
    std::chrono::milliseconds grace{10'000};
    std::string output;            // the folder for the output of commands; empty: standard error
    std::string restart = "never"; // unless a tag says otherwise
    std::int64_t most_commands = 1000;
    std::vector<std::string> hooks; // allocation=COMMAND, release=COMMAND
    std::chrono::milliseconds hook_timeout{30'000};
};
void define_work_options(Command command, WorkOptions& options);

/// Whether the RM has to send a release of this type back (I-033).
[[nodiscard]] bool needs_confirmation(si::TerminationType type);

/// Owner: serve(). Thread: main.
class ServedWork {
public:
    struct Rm {
        std::string id;
        std::string state;    // the file with its books; empty: none are kept
        bool confirms = true; // releases
    };

    /// nullptr: nothing is to be run. Says how limits are enforced, and what was left of an earlier process and ended.
    [[nodiscard]] static Answer<std::unique_ptr<ServedWork>> start(Context& context, const WorkOptions& options, Rm rm,
                                                                   EndSignals& signals);

    void take(const si::StreamItem& item, rm::State state);
    /// Begins, also with what the RM has by its books; nullptr: it keeps none, and `kept` says whether it has
    /// something.
    void take_up(rm::StreamBooks* books, bool kept);
    /// The RM was registered anew, without what it had.
    void lost(const std::string& why);
    /// Sends releases and confirmations, as far as the RM is running; says what has happened.
    void send(rm::RmClient& client);
    /// Ends all commands, and waits for that.
    void end();
    [[nodiscard]] bool is_busy() { return worker_->is_busy(); }

private:
    ServedWork(Context& context, Rm rm, std::shared_ptr<work::Worker> worker, std::chrono::milliseconds patience)
        : context_(context), rm_(std::move(rm)), worker_(std::move(worker)), patience_(patience) {}
    void take_from(rm::StreamBooks* books, bool kept);
    void say();
    void take_refused(const std::vector<si::RejectedAllocation>& refused, bool recovering);

    Context& context_;
    const Rm rm_;
    const std::shared_ptr<work::Worker> worker_; // a signal ends its commands, too
    const std::chrono::milliseconds patience_;
};

} // namespace yk::cli
