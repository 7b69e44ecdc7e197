// SPDX-License-Identifier: Apache-2.0
#include "ykctl/cli/failure.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>

using namespace yk::cli;
using yk::wire::CallError;

namespace {

CallError refused(std::uint32_t code, const std::string& name) {
    CallError error;
    error.kind = CallError::Kind::Refused;
    error.code = code;
    error.name = name;
    error.message = "no";
    return error;
}

} // namespace

TEST_CASE("4.2 exit codes of refusals") {
    const std::pair<std::uint32_t, Exit> kCodes[] = {
        {107, Exit::Refused}, {200, Exit::Denied},  {201, Exit::Denied},  {300, Exit::NotFound}, {320, Exit::NotFound},
        {302, Exit::Refused}, {310, Exit::Refused}, {400, Exit::Refused}, {500, Exit::Refused}};
    for (const auto& [code, exit] : kCodes) {
        INFO(code);
        CHECK(from_call_error(refused(code, "E"), "ipc:///x").exit == exit);
    }
}

TEST_CASE("4.2 exit codes of what is not a refusal") {
    const std::pair<CallError::Kind, Exit> kKinds[] = {
        {CallError::Kind::Unreachable, Exit::Unreachable}, {CallError::Kind::Denied, Exit::Denied}, // B14
        {CallError::Kind::TimedOut, Exit::Unreachable},    {CallError::Kind::OutcomeUnknown, Exit::Unknown},
        {CallError::Kind::TooLarge, Exit::Refused},        {CallError::Kind::Malformed, Exit::Refused},
        {CallError::Kind::Stopped, Exit::Interrupted}};
    for (const auto& [kind, exit] : kKinds) {
        CallError error;
        error.kind = kind;
        CHECK(from_call_error(error, "tcp://127.0.0.1:1").exit == exit);
    }
}

TEST_CASE("4.4 a daemon that is not there: what, where, and what to do") {
    CallError error;
    error.kind = CallError::Kind::Unreachable;
    error.message = "connection refused";
    CHECK(failure_text(from_call_error(error, "ipc:///nonexistent/ykd.sock"), false) ==
          "ykctl: cannot reach ykd at ipc:///nonexistent/ykd.sock: no such socket\n"
          "  is it running?  systemctl status ykd      other address?  -s URL or YKCTL_SOCKET\n");
    CHECK(from_call_error(error, "tcp://127.0.0.1:1").message ==
          "cannot reach ykd at tcp://127.0.0.1:1: connection refused");
    CHECK(from_call_error(error, "ipc:///etc/passwd").message == "cannot reach ykd at ipc:///etc/passwd: not a socket");
}

TEST_CASE("errors as JSON have code, name, message and path") {
    auto error = refused(107, "E_INVALID");
    error.path = "asks[3].priority";
    CHECK(failure_text(from_call_error(error, "x"), true) ==
          "{\"schema\":1,\"error\":{\"code\":107,\"name\":\"E_INVALID\",\"message\":\"asks[3].priority: no\","
          "\"path\":\"asks[3].priority\"}}\n");
    CHECK(failure_text(usage_error("bad"), true) ==
          "{\"schema\":1,\"error\":{\"code\":0,\"name\":\"USAGE\",\"message\":\"bad\",\"path\":\"\"}}\n");
    CHECK(failure_text(from_call_error(refused(107, "E_INVALID"), "x"), false) == "ykctl: no (E_INVALID)\n");
}

TEST_CASE("B-01 B-03 a refused configuration: every problem with file, line and column") {
    auto error = refused(310, "E_CONFIG_INVALID");
    error.message = "update of configuration failed: config:12:9: a.b: bad (and more)";
    error.details = {{"source", "config"},
                     {"problems",
                      {{{"line", 12}, {"column", 9}, {"path", "a.b"}, {"message", "bad"}, {"severity", "error"}},
                       {{"line", 3}, {"column", 1}, {"path", ""}, {"message", "worse"}, {"severity", "error"}},
                       {{"line", 0}, {"column", 0}, {"path", ""}, {"message", "odd"}, {"severity", "warning"}}}}};
    const auto failure = with_problems(from_call_error(error, "x"), "q.yaml");
    CHECK(failure_text(failure, false) ==
          "ykctl: update of configuration failed: q.yaml:12:9: a.b: bad (and more) (E_CONFIG_INVALID)\n"
          "  q.yaml:3:1: error: worse\n"
          "  q.yaml: warning: odd\n");
    const auto json = nlohmann::json::parse(failure_text(failure, true))["error"];
    CHECK(json["code"] == failure.code);
    CHECK(json["details"]["source"] == "q.yaml");
    CHECK(json["details"]["line"] == 12);
    CHECK(json["details"]["column"] == 9);
    CHECK(json["details"]["problems"].size() == 3);
    CHECK(with_problems(from_call_error(refused(107, "E_INVALID"), "x"), "q.yaml").message == "no");
}

TEST_CASE("refusals say what to do next where there is something") {
    CHECK(from_call_error(refused(300, "E_RM_UNKNOWN"), "x").hints.size() == 1);
    CHECK(from_call_error(refused(104, "E_TOO_LARGE"), "x").hints.at(0).find("--max-message") != std::string::npos);
    auto busy = refused(400, "E_BUSY");
    busy.retryable = true;
    CHECK(from_call_error(busy, "x").hints.at(0).find("try again") != std::string::npos);
}

TEST_CASE("a message cannot steer the terminal") {
    CHECK(failure_text(usage_error("a\x1b[2Jb"), false) == "ykctl: a?[2Jb\n");
}

TEST_CASE("4.11 element codes have names") {
    CHECK(element_code_name(1021) == "P_NODE_EXISTS");
    CHECK(element_code_name(1).empty());
    CHECK(element_code_name(-1).empty());
    CHECK(element_code_name(1LL << 40).empty());
}
