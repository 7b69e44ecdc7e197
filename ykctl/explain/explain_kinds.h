// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kinds of `explain` that have a file of their own, and functions that all kinds share.

#include <string>
#include <vector>

#include "ykctl/cli/command.h"
#include "ykctl/client/context.h"
#include "ykctl/render/style.h"

namespace yk::cli {

void define_explain_node(Command explain, Context& context);
void define_explain_user(Command explain, Context& context);
void define_explain_config(Command explain, Context& context);

// The answers of Explain as the table formats show them.
[[nodiscard]] std::string node_explanation_text(const wire::Value& answer, const Style& style);
[[nodiscard]] std::string user_explanation_text(const wire::Value& answer, const Style& style);
/// `path` is the one that was typed.
[[nodiscard]] std::string config_explanation_text(const wire::Value& answer, const std::string& path,
                                                  const Style& style);

/// Sends Explain for the partition and RM of the settings.
[[nodiscard]] Answer<wire::Value> ask_to_explain(Context& context, si::ExplainRequest query);
/// The verdict, coloured as good, bad, or in between.
[[nodiscard]] std::string verdict_text(const Style& style, const std::string& verdict);
/// The reasons, one line each: ` 1. QUEUE_MAX  root.a  max vcore 100, used 96, each ask needs 8   blocks 12 asks`.
/// `nodes`: how the nodes answered, if they were asked.
[[nodiscard]] std::string reasons_text(const wire::Value& reasons, const wire::Value& nodes, const Style& style);
/// Splits lists of groups: `a,b` and `c` become a, b, c.
[[nodiscard]] std::vector<std::string> split_groups(const std::vector<std::string>& texts);

} // namespace yk::cli
