#pragma once
// The kinds of `explain` that have a file of their own, and what all of them share.

#include <string>
#include <vector>

#include "ykctl/commands/command.h"
#include "ykctl/commands/context.h"
#include "ykctl/render/style.h"

namespace yk::cli {

void define_explain_node(Command explain, Context& context);
void define_explain_user(Command explain, Context& context);
void define_explain_config(Command explain, Context& context);

// What tables show of an answer of Explain.
[[nodiscard]] std::string node_explanation_text(const wire::Value& answer, const Style& style);
[[nodiscard]] std::string user_explanation_text(const wire::Value& answer, const Style& style);
/// `path`: as it was typed.
[[nodiscard]] std::string config_explanation_text(const wire::Value& answer, const std::string& path,
                                                  const Style& style);

/// Explain, of the partition and RM of the settings.
[[nodiscard]] Answer<wire::Value> ask_to_explain(Context& context, wire::Value query);
/// In the colour of good, bad, or in between.
[[nodiscard]] std::string verdict_text(const Style& style, const std::string& verdict);
/// ` 1. QUEUE_MAX  root.a  max vcore 100, used 96, each ask needs 8   blocks 12 asks`, one line each. `nodes`: how the
/// nodes answered, if they were asked.
[[nodiscard]] std::string reasons_text(const wire::Value& reasons, const wire::Value& nodes, const Style& style);
/// `a,b` and `c` as a, b, c.
[[nodiscard]] std::vector<std::string> split_groups(const std::vector<std::string>& texts);

} // namespace yk::cli
