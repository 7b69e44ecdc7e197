// SPDX-License-Identifier: Apache-2.0
#pragma once
// One function per noun: adds its commands to the tree. The order here is the order in the help.

#include "ykctl/cli/command.h"
#include "ykctl/client/context.h"

namespace yk::cli {

void define_status(Command root, Context& context); // status, ping, health, version
void define_rm(Command root, Context& context);
void define_recovery(Command root, Context& context);
void define_node(Command root, Context& context);
void define_queue(Command root, Context& context);
void define_app(Command root, Context& context);
void define_ask(Command root, Context& context);
void define_alloc(Command root, Context& context);
void define_deployment(Command root, Context& context);
void define_mcs(Command root, Context& context);
void define_apply(Command root, Context& context); // apply, diff, delete
void define_partition(Command root, Context& context);
void define_cluster(Command root, Context& context);
void define_user(Command root, Context& context); // user, group
void define_config(Command root, Context& context);
void define_context(Command root, Context& context); // the daemons of a user, by name
void define_explain(Command root, Context& context);
void define_scenario(Command root, Context& context);
void define_replay(Command root, Context& context);
void define_recording(Command root, Context& context);
void define_dump(Command root, Context& context);
void define_events(Command root, Context& context);
void define_top(Command root, Context& context);
void define_audit(Command root, Context& context);
void define_metrics(Command root, Context& context);
void define_log(Command root, Context& context);
void define_wait(Command root, Context& context);
void define_sched(Command root, Context& context); // sched, clock
void define_names(Command root, Context& context); // hidden: for completions
/// whoami, can-i, completion, help: they need to see the whole tree.
void define_access(Command root, CommandLine& line, Context& context);
void define_help(Command root, CommandLine& line, Context& context);

} // namespace yk::cli
