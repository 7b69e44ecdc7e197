// SPDX-License-Identifier: Apache-2.0
#include "ykd/configuration/config_errors.h"

#include "libcore/base/check.h"
#include "ykd/process/log.h"

namespace yk::service {

wire::Value problems_value(const config_yaml::LoadOutcome& outcome) {
    wire::Value problems = wire::Value::array();
    for (const config::Problem& problem : outcome.problems)
        problems.push_back({{"line", problem.mark.line},
                            {"column", problem.mark.column},
                            {"path", problem.path},
                            {"message", problem.message},
                            {"severity", problem.severity == config::Severity::Error ? "error" : "warning"}});
    return problems;
}

void log_problems(std::string_view subject, const config_yaml::LoadOutcome& outcome, std::size_t logged) {
    std::vector<std::string> lines;
    for (std::size_t i = logged; i < outcome.problems.size(); ++i)
        lines.push_back(config_yaml::render_line(outcome.problems[i], outcome.source));
    warn_of_each("core.config", subject, lines);
}

const config::Problem* first_problem(const config_yaml::LoadOutcome& outcome) {
    for (const config::Problem& problem : outcome.problems)
        if (problem.severity == config::Severity::Error) return &problem;
    return nullptr;
}

wire::ErrorReply config_error(const config_yaml::LoadOutcome& outcome) {
    YK_ASSUME(!outcome.configuration, "only a text that is refused makes an error");
    wire::ErrorReply error;
    error.code = si::ErrorCode::ConfigInvalid;
    error.message = outcome.first_error().text();
    error.details["source"] = outcome.source;
    if (const config::Problem* first = first_problem(outcome)) {
        error.details["line"] = first->mark.line;
        error.details["column"] = first->mark.column;
        error.details["reason"] = first->message;
    }
    error.details["problems"] = problems_value(outcome);
    return error;
}

} // namespace yk::service
