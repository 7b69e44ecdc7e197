// SPDX-License-Identifier: Apache-2.0
#include "ykd/configuration/kept_configurations.h"

#include "ykd/process/log.h"

namespace yk::service {

void keep_configurations(DaemonState& state, const ConfigHistory& history, const Rm& rm) {
    if (!state.is_open()) return;
    const RmFacts facts = rm.facts();
    if (facts.detached) return state.forget_configurations(rm.id);
    std::vector<AcceptedConfig> list = history.of(rm.id); // shares the texts
    if (list.empty()) return;
    state.keep_configurations(rm.id,
                              [group = facts.policy_group, from_file = facts.config_from_file, list = std::move(list)] {
                                  KeptConfigurations kept{group, from_file, {}};
                                  for (const AcceptedConfig& each : list) kept.list.push_back(kept_form(each));
                                  return kept;
                              });
}

void restore_history(ConfigHistory& history, const std::string& rm_id,
                     const std::vector<books::KeptConfiguration>& configurations) {
    if (!history.of(rm_id).empty()) return;
    for (const books::KeptConfiguration& each : configurations)
        history.keep(rm_id,
                     {Instant{each.at}, each.checksum, each.origin, std::make_shared<const std::string>(each.text)});
}

void warn_of_other_file(const ConfigFiles& files, const std::string& rm_id, const std::string& policy_group,
                        const books::KeptConfiguration& active) {
    const auto file = files.load(policy_group);
    if (file.ok() && file->has_value() && (*file)->text == active.text) return;
    log("core.config")
        .warn("RM {} goes on with the configuration that was active, {}, but {}; ykctl config reload takes the file",
              rm_id, active.checksum.substr(0, 12),
              !file.ok()           ? "its file cannot be read: " + file.error().message
              : !file->has_value() ? std::string{"there is no file for its policy group any more"}
                                   : "the file " + (*file)->source + " has changed since");
}

} // namespace yk::service
