// SPDX-License-Identifier: Apache-2.0
// As whom commands run. What a test can see depends on who runs it: as root it has the rights to become others.
#include "ykd/mcs/local_work/account_rules.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

namespace yk::service {
namespace {

const std::string kOwn = fmt::format("uid {}", ::geteuid());

LocalWorkSettings settings_for(std::vector<std::string> users, std::string run_as = {}) {
    LocalWorkSettings settings;
    settings.users = std::move(users);
    settings.run_as = std::move(run_as);
    return settings;
}

std::string why_not(const LocalWorkSettings& settings, const std::string& submitter) {
    const auto account = account_for(settings, submitter);
    return account.ok() ? "" : account.error().message;
}

bool has(const std::string& text, const std::string& part) {
    CAPTURE(text);
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("rs R-173 who gave a command is what the daemon saw") {
    CHECK(submitter_text(true, 1000, "token admin") == "uid 1000");
    CHECK(submitter_text(false, 1000, "token admin (1a2b)") == "token admin (1a2b)");
}

TEST_CASE("rs R-173 queues are allowed with what is below them") {
    LocalWorkSettings settings;
    settings.queues = {"root.web", "root.a.b"};
    CHECK(may_run_from(settings, "root.web"));
    CHECK(may_run_from(settings, "root.web.one.two"));
    CHECK(may_run_from(settings, "root.a.b"));
    CHECK_FALSE(may_run_from(settings, "root.webs"));
    CHECK_FALSE(may_run_from(settings, "root.a"));
    CHECK_FALSE(may_run_from(settings, "root"));
    CHECK_FALSE(may_run_from(LocalWorkSettings{}, "root"));
    settings.queues = {"root"};
    CHECK(may_run_from(settings, "root"));
    CHECK(may_run_from(settings, "root.anything"));
}

TEST_CASE("rs R-173 nobody has commands run who is not named") {
    CHECK(has(why_not(settings_for({}), kOwn), "mcs.local.users"));
    CHECK(has(why_not(settings_for({"uid 12345"}), "uid 1234"), "uid 1234"));
    CHECK(has(why_not(settings_for({"no-such-account-here"}), kOwn), "mcs.local.users"));
    CHECK(has(why_not(settings_for({"uid 12345"}), ""), "nobody that ykd knows"));
    CHECK(has(why_not(settings_for({"uid"}), "uid x"), "uid x"));
}

TEST_CASE("rs R-173 a command runs as the account that gave it, or as the one for all, never as root") {
    const std::string token = "token admin (1a2b)";
    CHECK(has(why_not(settings_for({token}), token), "no account of this machine"));
    CHECK(has(why_not(settings_for({token}, "no-such-account-here"), token), "mcs.local.runAs"));
    CHECK(has(why_not(settings_for({"uid 4000000001"}), "uid 4000000001"), "no account"));
    CHECK(has(why_not(settings_for({"uid 0"}), "uid 0"), "never run as root"));
    CHECK(has(why_not(settings_for({"root"}), "uid 0"), "never run as root"));
    CHECK(has(why_not(settings_for({token}, "root"), token), "never run as root"));
    const auto as_nobody = account_for(settings_for({token}, "nobody"), token);
    const passwd* const nobody = ::getpwnam("nobody");
    REQUIRE(nobody != nullptr);
    if (::geteuid() == 0) {
        REQUIRE(as_nobody.ok());
        REQUIRE(as_nobody->identity);
        CHECK(as_nobody->identity->uid == nobody->pw_uid);
        CHECK(as_nobody->identity->gid == nobody->pw_gid);
        for (const gid_t group : as_nobody->identity->groups) CHECK(group != 0);
        CHECK(as_nobody->directory == nobody->pw_dir);
    } else if (::geteuid() != nobody->pw_uid) {
        CHECK(has(as_nobody.error().message, "CAP_SETUID"));
        const auto own = account_for(settings_for({kOwn}), kOwn);
        REQUIRE(own.ok());
        CHECK_FALSE(own->identity);
        const std::string name = ::getpwuid(::geteuid())->pw_name;
        CHECK(account_for(settings_for({name}), kOwn).ok());
        CHECK(has(why_not(settings_for({token}, name), token), "the rights of ykd itself"));
    }
}

} // namespace yk::service
