// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a restart of the daemon does about configurations: those of an RM that a process serves are kept by DaemonState
// (docs/spec/interface.md, I-272), those of a detached one are in its books (I-265).
//
// Thread: any.

#include <string>
#include <vector>

#include "protocol/books/book_file.h"
#include "ykd/configuration/config_files.h"
#include "ykd/configuration/config_history.h"
#include "ykd/rm/rm_table.h"
#include "ykd/state/daemon_state.h"

namespace yk::service {

/// Keeps the configurations of the RM, as its facts and the history have them now; none of one that is detached.
void keep_configurations(DaemonState& state, const ConfigHistory& history, const Rm& rm);

/// Fills the history of an RM that has none in this run of the daemon.
void restore_history(ConfigHistory& history, const std::string& rm_id,
                     const std::vector<books::KeptConfiguration>& configurations);

/// Warns when the file of the policy group says something else than the configuration that was active and came from it:
/// the RM goes on with what was active.
void warn_of_other_file(const ConfigFiles& files, const std::string& rm_id, const std::string& policy_group,
                        const books::KeptConfiguration& active);

} // namespace yk::service
