// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/database_place.h"

#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <filesystem>

#include "tests/support/system/temp_dir.h"
#include "ykd/daemon/daemon.h"

using namespace yk;
using namespace yk::service;

namespace {

struct Folder : testing::TempDir {
    void set_mode(unsigned mode) const { REQUIRE(::chmod(path().c_str(), mode) == 0); }
};

DatabaseSettings at(std::string url) {
    DatabaseSettings settings;
    settings.url = std::move(url);
    return settings;
}

} // namespace

TEST_CASE("a database in a state directory that others may write is refused, one of elsewhere is the operator's") {
    const Folder folder;
    folder.set_mode(0755);
    CHECK(check_database_place({}, folder.path()).ok());
    folder.set_mode(0777);
    const auto refused = check_database_place({}, folder.path());
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message ==
          "the database of deployments in " + folder.path() +
              " cannot be trusted: it may be written by others (mode 0777; chmod go-w); see to that, or "
              "choose another --state");
    CHECK_FALSE(check_database_place(at("sqlite:" + folder.path() + "/other.db"), folder.path()).ok());
    CHECK_FALSE(check_database_place(at("sqlite:" + folder.path() + "/other.db"), folder.path() + "/").ok());
    CHECK(check_database_place(at("sqlite:/elsewhere/mcs.db"), folder.path()).ok());
    CHECK(check_database_place(at("postgresql://db/ykd"), folder.path()).ok());
    CHECK(check_database_place(at("sqlite:/elsewhere/mcs.db"), "").ok());
}

TEST_CASE("each folder on the way from the state directory to the database is looked at") {
    const Folder folder;
    folder.set_mode(0755);
    std::filesystem::create_directories(folder.path() + "/a/b");
    const auto is_good = [&](unsigned mode) {
        REQUIRE(::chmod((folder.path() + "/a").c_str(), mode) == 0);
        return check_database_place(at("sqlite:a/b/mcs.db"), folder.path()).ok();
    };
    CHECK(is_good(0755));
    CHECK_FALSE(is_good(0775));
    CHECK(check_database_place(at("sqlite:none/mcs.db"), folder.path()).ok()); // what is not there is made, or refused
}

TEST_CASE("a daemon with deployments does not begin in a state directory that others may write") {
    const Folder folder;
    folder.set_mode(0775);
    DaemonSettings settings;
    settings.state_directory = folder.path();
    CHECK(Daemon(settings, "test").open_state().ok()); // the books have a folder of their own
    settings.mcs.enabled = true;
    CHECK_FALSE(Daemon(settings, "test").open_state().ok());
    folder.set_mode(0755);
    CHECK(Daemon(settings, "test").open_state().ok());
}
