// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a change of the configuration means, and sending one: shared by diff, reload, edit and rollback.

#include <string>
#include <string_view>
#include <vector>

#include "libcore/config/diff.h"
#include "protocol/si/messages.h"
#include "ykctl/client/context.h"

namespace yk::cli {

/// What a reload would change, from a dry run.
struct ConfigChanges {
    std::vector<wire::Value> list;
    std::string refusal; // why the running state would refuse it; empty: it would not
};

/// Asks the daemon what the RM's configuration would become with a text. `name` stands for it in errors; a text that is
/// wrong by itself is a failure.
[[nodiscard]] Answer<ConfigChanges> changes_by(Context& context, const std::string& text, const std::string& name);

/// A change as a line for people.
[[nodiscard]] std::string change_line(const wire::Value& change, const Style& style);
/// Prints the changes, and how many they are.
void show_changes(Context& context, const std::vector<wire::Value>& changes);

/// Prints the warnings about a configuration that was accepted.
void print_warnings(Context& context, const wire::Value& reply);

/// Sends the change, or its dry run, for the RM of the settings, and prints the result.
[[nodiscard]] Outcome update_configuration(Context& context, si::UpdateConfigurationRequest request);

} // namespace yk::cli
