// The daemon without its listeners.

#include "ykd/service/daemon.h"

#include <catch2/catch.hpp>

using namespace yk;
using namespace yk::service;

TEST_CASE("C-466 once enableConfigHotRefresh was false it stays false") {
    const std::string key = "service.enableConfigHotRefresh";
    Daemon daemon{DaemonSettings{}, "test"};
    const auto refreshes_with = [&](const TextMap& map) {
        daemon.extra_config().set("rm", map);
        daemon.apply_extra_config();
        return daemon.hot_refresh();
    };
    CHECK(daemon.hot_refresh());
    CHECK(refreshes_with({{key, "true"}}));
    CHECK(refreshes_with({{key, "odd"}})); // C-461: the default
    CHECK_FALSE(refreshes_with({{key, "false"}}));
    CHECK_FALSE(refreshes_with({{key, "true"}}));
    CHECK_FALSE(refreshes_with({}));
    CHECK(Daemon{DaemonSettings{}, "test"}.hot_refresh()); // the next start
}
