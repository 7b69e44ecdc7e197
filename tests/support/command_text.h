// SPDX-License-Identifier: Apache-2.0
#pragma once
// Commands of a run as owned text: made by hand or by random_commands.h, printed one per line, read back, replayed byte
// for byte and shrunk. The forms:
//
//   config partitions: [...]              the configuration, YAML in flow style on one line
//   advance 2500ms                        time passes, timers fire
//   cycle 3                               scheduling cycles
//   recover begin | recover begin-forced | recover forget | recover end           steps of a recovery
//   alloc ask app=a key=k res=vcore:5 group=g placeholder=1 | place ... node=n
//         unask app=a key=k | release app=a key=k type=1
//   apps new id=a queue=root.q user=u groups=g,h tags=k:v gang=vcore:5 style=Hard timeout=200 | remove id=a
//   (tagmax=vcore:5 tagguaranteed=vcore:2 tagapps=3: the quota tags of C-237; fault=TEXT: the user cannot be resolved)
//   nodes create id=n res=vcore:10 occ=vcore:1 | update ... | drain id=n | schedulable id=n | decommission id=n
//   (dev=gpu:1000/1000: devices; groups=[[0,1],[2,3]]: which of them share a switch; of asks dev=gpu:2x500: two with
//   500 each, of placements dev=gpu:0@500/1@500: those of device 0 and 1)
//   (avail=vcore:3 count=2: what the RM has booked on the node, I-221)
//
//   answer fit call=1 yes=n-0,n-1 no=n-2:why,n-3:why | failed call=1 error=TEXT | timeout call=1
//          preempt call=1 index=2 (no index: refused)           how a call to the RM ended
//
// Elements of one request are divided by ` | `, fields by blanks; values hold neither. `#` starts a comment line.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/ports/command.h"

namespace yk::testing {

/// One element of a request: a verb and its fields.
struct Element {
    std::string verb;
    std::map<std::string, std::string> fields;

    /// The text of a field; empty when it is not there.
    [[nodiscard]] std::string_view get(const std::string& field) const;
    [[nodiscard]] bool has(const std::string& field) const { return fields.count(field) != 0; }
    [[nodiscard]] std::int64_t number(const std::string& field) const; // 0 when it is not there
};

enum class CommandKind { Config, Advance, Cycle, Recovery, Allocations, Applications, Nodes, Answers };

struct Command {
    CommandKind kind = CommandKind::Cycle;
    std::string text;       // Config: YAML; Recovery: the step
    std::int64_t count = 0; // Advance: milliseconds; Cycle: how many
    std::vector<Element> elements;
};

[[nodiscard]] std::string print(const Command& command);
[[nodiscard]] std::string print(const std::vector<Command>& commands);
[[nodiscard]] Result<Command> parse_command(std::string_view line);
/// A whole file; empty lines and comments are left out.
[[nodiscard]] Result<std::vector<Command>> parse_commands(std::string_view text);

/// The request in the core's terms. Views into `command`, which must live on.
[[nodiscard]] AllocationRequest allocation_request(const Command& command);
[[nodiscard]] ApplicationRequest application_request(const Command& command);
[[nodiscard]] NodeRequest node_request(const Command& command);

[[nodiscard]] std::vector<CallAnswer> call_answers(const Command& command);

/// `vcore:5,memory:10` as quantities that view `text`.
[[nodiscard]] Quantities quantities(std::string_view text);

} // namespace yk::testing
