// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/rest_router.h"

#include <catch2/catch.hpp>

#include "ykd/rest/rest_names.h"

using namespace yk::service;
using Kind = RestMatch::Kind;

namespace {

const RestRouter& router() {
    static const RestRouter kRouter{{{"GET", "/ws/v1/partitions"},
                                     {"GET", "/ws/v1/partition/:partition/queue/:queue"},
                                     {"GET", "/ws/v1/partition/:partition/queue/:queue/applications/:state"},
                                     {"POST", "/ws/v1/validate-conf"}}};
    return kRouter;
}

std::string moved(const std::string& path) {
    const RestMatch match = router().match("GET", path);
    return match.kind == Kind::Moved ? match.text : "not moved";
}

} // namespace

TEST_CASE("I-430 names in a path are decoded once") {
    const RestMatch match = router().match("GET", "/ws/v1/partition/default/queue/root%2Ea%2520b");
    REQUIRE(match.kind == Kind::Found);
    CHECK(match.route == 1);
    CHECK(match.values == std::vector<std::string>{"default", "root.a%20b"});
    CHECK(decoded_again(match.values[1]) == "root.a b");
    CHECK(decoded_again("a+b") == "a b");
    CHECK(router().match("GET", "/ws/v1/partition//queue/root").values == std::vector<std::string>{"", "root"});
    CHECK_FALSE(decoded_again("%zz"));
    CHECK_FALSE(decoded_again("%2"));
    CHECK(router().match("GET", "/ws/v1/partition/default/queue/root%2Fx").kind ==
          Kind::NotFound); // it splits the path
    CHECK(router().match("GET", "/ws/v1/partition/default/queue/%zz").kind == Kind::NotFound);
}

TEST_CASE("I-432 a path in another spelling is moved to the right one") {
    CHECK(moved("/ws/v1/partitions/") == "/ws/v1/partitions");
    CHECK(moved("//ws//v1/./partitions") == "/ws/v1/partitions");
    CHECK(moved("/ws/x/../v1/partitions") == "/ws/v1/partitions");
    CHECK(moved("/WS/V1/Partition/Default/Queue/Root.A") == "/ws/v1/partition/Default/queue/Root.A");
    CHECK(moved("/ws/v1/partition/a%20b/queue/root/") == "/ws/v1/partition/a%20b/queue/root");
    CHECK(moved("/ws/v1/partition/default/queue/") == "/ws/v1/partition/default/queue");
    CHECK(moved("/ws/v1/nothing/") == "not moved");
    CHECK(moved("/../../..") == "not moved");
}

TEST_CASE("I-432 another method is told which ones there are") {
    const RestMatch post = router().match("POST", "/ws/v1/partitions");
    CHECK(post.kind == Kind::NotAllowed);
    CHECK(post.text == "GET, OPTIONS");
    const RestMatch get = router().match("GET", "/ws/v1/validate-conf");
    CHECK(get.kind == Kind::NotAllowed);
    CHECK(get.text == "OPTIONS, POST");
    CHECK(router().match("HEAD", "/ws/v1/partitions").kind == Kind::NotAllowed);
    CHECK(router().match("OPTIONS", "/ws/v1/partitions").kind == Kind::Options);
    CHECK(router().match("OPTIONS", "/ws/v1/nothing").kind == Kind::NotFound);
    for (const char* path : {"", "*", "/", "/ws/v1", "/ws/v1/partition/default", "ws/v1/partitions", "http://x/"})
        CHECK(router().match("GET", path).kind == Kind::NotFound);
}

TEST_CASE("I-430 the path of a queue is a name in each part") {
    CHECK(is_queue_path("root"));
    CHECK(is_queue_path("root.a_1.b-2@x:y#z/w"));
    CHECK(is_queue_path(std::string(64, 'a')));
    for (const std::string& path : {std::string{}, std::string("root."), std::string("root..a"),
                                    std::string("root.a b"), std::string("root.!"), std::string(65, 'a')})
        CHECK_FALSE(is_queue_path(path));
}
