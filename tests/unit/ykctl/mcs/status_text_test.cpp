// SPDX-License-Identifier: Apache-2.0
#include "ykctl/mcs/status_text.h"

#include <catch2/catch.hpp>

using namespace yk;
using namespace yk::cli;

namespace {

wire::Value running() {
    return {{"state", "running"},
            {"staleMs", 0},
            {"database", {{"path", "mcs.db"}, {"up", true}, {"walPages", 7}}},
            {"writes", {{"waiting", 0}}}};
}

/// The values of the lines `degraded`, and `-` for any other line before the last of them.
std::string degraded_in(const wire::Value& status) {
    const std::string text = mcs_status_text(status, {});
    std::string found, others;
    for (std::size_t at = 0; at < text.size();) {
        const std::string line = text.substr(at, text.find('\n', at) - at);
        at += line.size() + 1;
        if (line.starts_with("degraded:")) {
            found += others + line.substr(line.find_first_not_of(' ', 9)) + ";";
            others.clear();
        } else {
            others += "-";
        }
    }
    return found;
}

} // namespace

TEST_CASE("what is wrong with MCS is at the top of its status, each thing once") {
    wire::Value status = running();
    CHECK(degraded_in(status).empty());
    status["degraded"] = {"MCS, leases: database or disk is full", "MCS, writes: disk I/O error"};
    CHECK(degraded_in(status) == "-MCS, leases: database or disk is full;MCS, writes: disk I/O error;");
    status["writes"]["fault"] = "disk I/O error"; // it is said already
    status["relay"] = {{"leads", true}, {"fault", "the broker refuses it"}};
    CHECK(degraded_in(status) ==
          "-MCS, leases: database or disk is full;MCS, writes: disk I/O error;the broker refuses it;");
    status.erase("degraded"); // as an older daemon answers
    CHECK(degraded_in(status) == "-disk I/O error;the broker refuses it;");
}
