// SPDX-License-Identifier: Apache-2.0
// config.md section 12: users and groups.

#include "ykd/rm/user_resolver.h"

#include <unistd.h>

#include <catch2/catch.hpp>

#include <pwd.h>

#include "ykd/rm/user_directory.h"

using namespace yk;
using namespace yk::service;

namespace {

using Groups = std::vector<std::string>;

constexpr Instant kNow{1'000'000'000'000};

Instant after(int seconds) {
    return kNow + std::chrono::seconds{seconds};
}

/// The users of the resolver `test` (C-364), and how often it was asked.
struct Directory {
    int asked = 0;
    bool works = true;

    GroupsAnswer look_up(const std::string& user) {
        ++asked;
        if (works && user == "testuser1") return Groups{"group1000", "group1001"};
        if (works && user == "testuser2") return Groups{"100", "group1001", "group1002"};
        return Error::of("lookup failed for user: " + user);
    }
    LookedUp look_up(const std::vector<std::string>& users) {
        LookedUp answers;
        for (const std::string& user : users) answers.emplace(user, look_up(user));
        return answers;
    }
    std::vector<std::string> resolve(UserDirectory& users, si::ApplicationRequest& request, Instant now) {
        return users.resolve(request, look_up(users.to_look_up(request, now)), now);
    }
};

/// A resolver that asks the directory whenever it has to.
struct Asking {
    Directory& directory;
    UserResolver resolver{true};

    ResolvedUser resolve(const ResolvedUser& sent, bool forced, Instant now) {
        if (resolver.needs_lookup(sent, now)) resolver.remember(sent.user, directory.look_up(sent.user), now);
        return resolver.resolve(sent, forced, now);
    }
};

} // namespace

TEST_CASE("C-364 the default resolver gives a user the group of its own name") {
    UserResolver resolver{false};
    const ResolvedUser bob = resolver.resolve({"bob", {}, {}}, false, kNow);
    CHECK(bob.groups == Groups{"bob"});
    CHECK(bob.fault.empty());
    CHECK_FALSE(resolver.needs_lookup({"bob", {}, {}}, kNow));
}

TEST_CASE("C-360 groups that were sent are used in their order, and remembered") {
    UserResolver resolver{false};
    CHECK(resolver.resolve({"bob", {"z", "a"}, {}}, false, kNow).groups == Groups{"z", "a"});
    CHECK(resolver.resolve({"bob", {}, {}}, false, after(1)).groups == Groups{"z", "a"});
    CHECK(resolver.resolve({"bob", {"b"}, {}}, false, after(2)).groups == Groups{"b"});
    CHECK(resolver.resolve({"bob", {}, {}}, false, after(301)).groups == Groups{"b"});
    CHECK(resolver.resolve({"bob", {}, {}}, false, after(303)).groups == Groups{"bob"});
}

TEST_CASE("C-360 C-363 the user name rule, with groups and without") {
    Directory directory;
    Asking resolver{directory};
    for (const Groups& groups : {Groups{}, Groups{"dev"}})
        for (const char* user : {"99test", "a b", "a!b"}) {
            const ResolvedUser resolved = resolver.resolve({user, groups, {}}, false, kNow);
            CHECK_THAT(resolved.fault, Catch::StartsWith("invalid username, it contains invalid characters"));
        }
    CHECK(directory.asked == 0);
    CHECK(resolver.resolver.remembered() == 0);
}

TEST_CASE("C-361 no user") {
    UserResolver resolver{false};
    CHECK(resolver.resolve({"", {"dev"}, {}}, false, kNow).fault == "empty user cannot resolve");
    const ResolvedUser forced = resolver.resolve({"", {}, {}}, true, kNow);
    CHECK(forced.user == "nobody");
    CHECK(forced.groups == Groups{"nogroup"});
    CHECK(forced.fault.empty());
}

TEST_CASE("C-362 a failure rejects; a forced application runs in nogroup") {
    Directory directory;
    Asking resolver{directory};
    CHECK(resolver.resolve({"who", {}, {}}, false, kNow).fault == "lookup failed for user: who");
    const ResolvedUser forced = resolver.resolve({"who", {}, {}}, true, kNow);
    CHECK(forced.user == "who");
    CHECK(forced.groups == Groups{"nogroup"});
    CHECK(forced.fault.empty());
}

TEST_CASE("C-365 success is valid for 300 s, failure for 30 s") {
    Directory directory;
    Asking resolver{directory};
    CHECK(resolver.resolve({"testuser1", {}, {}}, false, kNow).groups == Groups{"group1000", "group1001"});
    CHECK(resolver.resolve({"testuser1", {}, {}}, false, after(299)).fault.empty());
    CHECK(directory.asked == 1);
    directory.works = false;
    CHECK(resolver.resolve({"testuser1", {}, {}}, false, after(300)).fault == "lookup failed for user: testuser1");
    const std::string cached = resolver.resolve({"testuser1", {}, {}}, false, after(329)).fault;
    CHECK_THAT(cached, Catch::Contains("cached data returned") && Catch::Contains("testuser1"));
    CHECK(directory.asked == 2);
    directory.works = true;
    // a failure is kept for 30 s only (D-29)
    CHECK(resolver.resolve({"testuser1", {}, {}}, false, after(330)).fault.empty());
    CHECK(directory.asked == 3);
}

TEST_CASE("C-365 what is out of date is forgotten") {
    Directory directory;
    Asking resolver{directory};
    for (int i = 0; i < 50; ++i) static_cast<void>(resolver.resolve({"u" + std::to_string(i), {}, {}}, false, kNow));
    CHECK(resolver.resolver.remembered() == 50);
    static_cast<void>(resolver.resolve({"testuser1", {}, {}}, false, after(91)));
    CHECK(resolver.resolver.remembered() == 1);
}

TEST_CASE("C-468 how long success is valid can be set") {
    Directory directory;
    Asking resolver{directory};
    resolver.resolver.set_validity(std::chrono::seconds{5});
    static_cast<void>(resolver.resolve({"testuser1", {}, {}}, false, kNow));
    static_cast<void>(resolver.resolve({"testuser1", {}, {}}, false, after(5)));
    CHECK(directory.asked == 2);
}

TEST_CASE("C-364 the resolver os asks the system: primary group first and once, unknown users fail") {
    const passwd* self = getpwuid(getuid());
    REQUIRE(self != nullptr);
    const auto groups = system_groups(self->pw_name);
    REQUIRE(groups.ok());
    REQUIRE_FALSE(groups->empty());
    CHECK(std::count(groups->begin(), groups->end(), groups->front()) == 1);
    const auto nobody = system_groups("no-such-user-here");
    REQUIRE_FALSE(nobody.ok());
    CHECK_THAT(nobody.error().message, Catch::StartsWith("lookup failed for user: no-such-user-here"));
}

namespace {

config::Configuration configuration(const std::string& type) {
    config::Configuration all;
    for (const char* name : {"default", "two"}) {
        config::Partition partition;
        partition.name = name;
        partition.user_group_resolver = partition.name == "two" ? "" : type;
        all.partitions.push_back(partition);
    }
    return all;
}

si::ApplicationRequest request(const std::string& partition, const std::string& user) {
    si::ApplicationRequest all;
    si::AddApplicationRequest one;
    one.partition_name = partition;
    one.ugi.user = user;
    all.add.push_back(one);
    return all;
}

} // namespace

TEST_CASE("C-366 each partition has its resolver; a reload that changes the type forgets everybody") {
    Directory directory;
    UserDirectory users{"rm"};
    users.configure(configuration("os"));
    const auto groups_in = [&](const std::string& partition) {
        auto message = request(partition, "testuser1");
        const auto faults = directory.resolve(users, message, kNow);
        CHECK(faults == std::vector<std::string>{""});
        return message.add.front().ugi.groups;
    };
    CHECK(groups_in("") == Groups{"group1000", "group1001"});
    CHECK(groups_in("[rm]default") == Groups{"group1000", "group1001"});
    CHECK(groups_in("two") == Groups{"testuser1"});
    CHECK(directory.asked == 1);
    users.configure(configuration("os"));
    CHECK(groups_in("default") == Groups{"group1000", "group1001"});
    CHECK(directory.asked == 1); // the type is the same
    users.configure(configuration(""));
    CHECK(groups_in("default") == Groups{"testuser1"});
    users.configure(configuration("os"));
    CHECK(groups_in("default") == Groups{"group1000", "group1001"});
    CHECK(directory.asked == 2);
    CHECK(groups_in("unknown") == Groups{}); // the core refuses the partition
}

TEST_CASE("C-030 a partition that a reload writes in another case keeps its resolver") {
    Directory directory;
    UserDirectory users{"rm"};
    config::Configuration written = configuration("os");
    users.configure(written);
    written.partitions.front().name = "DEFAULT";
    users.configure(written);
    auto message = request("default", "testuser1");
    CHECK(directory.resolve(users, message, kNow) == std::vector<std::string>{""});
    CHECK(message.add.front().ugi.groups == Groups{"group1000", "group1001"});
}

TEST_CASE("C-365 the owner asks nobody: who is unknown was looked up before, each user once") {
    Directory directory;
    UserDirectory users{"rm"};
    users.configure(configuration("os"));
    auto message = request("", "testuser2");
    message.add.push_back(message.add.front());
    message.add.push_back(request("two", "testuser1").add.front());
    REQUIRE(users.to_look_up(message, kNow) == std::vector<std::string>{"testuser2"});
    CHECK(directory.resolve(users, message, kNow) == std::vector<std::string>(3));
    CHECK(message.add[0].ugi.groups == Groups{"100", "group1001", "group1002"});
    CHECK(message.add[1].ugi.groups == Groups{"100", "group1001", "group1002"});
    CHECK(message.add[2].ugi.groups == Groups{"testuser1"});
    CHECK(directory.asked == 1);

    auto unknown = request("", "who");
    CHECK(directory.resolve(users, unknown, kNow) == std::vector<std::string>{"lookup failed for user: who"});
    CHECK(directory.asked == 2);
    CHECK(users.preview("", {"who", {"dev"}, {}}, false, {}, kNow).groups == Groups{"dev"});
    CHECK_THAT(users.preview("", {"who", {}, {}}, false, {}, kNow).fault, Catch::Contains("cached data returned"));
}

TEST_CASE("C-366 who was not looked up, as a reload overtook the request, is rejected and not remembered") {
    Directory directory;
    UserDirectory users{"rm"};
    users.configure(configuration("os"));
    auto message = request("", "testuser1");
    CHECK(users.resolve(message, {}, kNow) ==
          std::vector<std::string>{"user testuser1 could not be looked up in time, add the application again"});
    message = request("", "testuser1");
    CHECK(directory.resolve(users, message, kNow) == std::vector<std::string>{""});
}

TEST_CASE("C-365 answers that come too late for their request serve the next one") {
    Directory directory;
    UserDirectory users{"rm"};
    users.configure(configuration("os"));
    const auto message = request("", "testuser1");
    users.remember(message, directory.look_up(users.to_look_up(message, kNow)), kNow);
    CHECK(users.to_look_up(message, kNow).empty());
}

TEST_CASE("C-365 what was fresh when a request came serves it, however long it waited") {
    Directory directory;
    UserDirectory users{"rm"};
    users.configure(configuration("os"));
    auto first = request("", "testuser1");
    CHECK(directory.resolve(users, first, kNow) == std::vector<std::string>{""});
    auto waits = request("", "testuser1");
    CHECK(users.to_look_up(waits, after(299)).empty());
    auto later = request("", "who");
    static_cast<void>(directory.resolve(users, later, after(340)));
    CHECK(users.resolve(waits, {}, after(299)) == std::vector<std::string>{""});
    CHECK(waits.add.front().ugi.groups == Groups{"group1000", "group1001"});
}

TEST_CASE("C-365 what is remembered has a bound") {
    UserResolver resolver{false};
    const Groups groups(10, std::string(100, 'g')); // about 1,500 bytes
    const auto remember = [&](const std::string& name, int count) {
        for (int i = 0; i < count; ++i)
            static_cast<void>(resolver.resolve({name + std::to_string(i), groups, {}}, false, kNow));
    };
    resolver.set_limit(100 * 1600);
    remember("user-", 1000);
    CHECK(resolver.remembered() > 100);
    CHECK(resolver.remembered() <= 230);
    CHECK(resolver.resolve({"user-999", {}, {}}, false, kNow).groups == groups);
    CHECK(resolver.resolve({"user-900", {}, {}}, false, kNow).groups == groups); // in the older half
    CHECK(resolver.resolve({"user-1", {}, {}}, false, kNow).groups == Groups{"user-1"});
    CHECK(resolver.only("user-900").resolve({"user-900", {}, {}}, false, kNow).groups == groups);
}
