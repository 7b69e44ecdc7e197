// SPDX-License-Identifier: Apache-2.0
// Which files of a cgroup are written with which text is tested in plain folders, which every machine has; what the
// kernel makes of it where it has cgroups of version 2.
#include "protocol/work/cgroups.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>
#include <string>

#include "tests/support/comes_true.h"
#include "tests/unit/protocol/work/running.h"

namespace yk::work {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMebibyte = std::int64_t{1024} * 1024;

std::string text_of(const std::string& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
}
void set_text(const std::string& path, const std::string& text) {
    std::ofstream file{path};
    file << text;
    REQUIRE(file.flush().good());
}

/// A plain folder in the place of the file system of cgroups. The kernel fills each cgroup with its files; here the
/// test does.
struct PlainFolder {
    explicit PlainFolder(const std::string& controllers = "cpuset cpu io memory pids\n") {
        set_text(folder / "cgroup.controllers", controllers);
        set_text(folder / "cgroup.subtree_control", "");
    }
    void add(const std::string& name) const {
        fs::create_directory(folder / name);
        for (const char* file : {"cgroup.procs", "cgroup.kill", "memory.max", "cpu.max"})
            set_text(folder / (name + "/" + file), "");
    }
    [[nodiscard]] Cgroups cgroups() const { return Cgroups::below(folder.path()); }
    [[nodiscard]] std::string text(const std::string& file) const { return text_of(folder / file); }

    Folder folder;
};

std::string refusal_of(const Result<void>& done) {
    return done.ok() ? std::string{} : done.error().message;
}

// --- what the kernel has -------------------------------------------------------------------------

/// What this machine lacks leaves a test out, with a warning. In CI it fails where the machine could have it (rs
///
bool is_left_out(const std::string& why, bool machine_could) {
    const char* const in_ci = std::getenv("CI");
    if (machine_could && in_ci != nullptr && std::string{in_ci} == "true") FAIL(why);
    WARN("left out: " << why);
    return true;
}

/// Where cgroups of version 2 are mounted; empty: nowhere.
std::string mount_point() {
    std::ifstream mounts{"/proc/self/mounts"};
    for (std::string line; std::getline(mounts, line);) {
        std::istringstream words{line};
        std::string device, point, type;
        if (words >> device >> point >> type && type == "cgroup2") return point;
    }
    return {};
}

/// Whether cgroups of version 2 have both controllers on this machine. Those that version 1 has they cannot have.
bool machine_has_controllers() {
    std::istringstream words{text_of(mount_point() + "/cgroup.controllers")};
    bool has_memory = false, has_cpu = false;
    for (std::string each; words >> each;) {
        has_memory = has_memory || each == "memory";
        has_cpu = has_cpu || each == "cpu";
    }
    return has_memory && has_cpu;
}

/// The root of CI may make cgroups.
bool lacks_cgroups(const std::string& why) {
    return !why.empty() && is_left_out("no cgroups: " + why, true);
}

} // namespace

TEST_CASE("limits are written into the files of a cgroup, in bytes and in microseconds of each period") {
    const PlainFolder plain;
    const Cgroups cgroups = plain.cgroups();
    REQUIRE(cgroups.no_limits().empty());
    struct Case {
        Limits limits;
        std::string memory, cpu;
    };
    const Case cases[] = {
        {{64 * kMebibyte, 500}, "67108864", "50000 100000"},
        {{0, 1000}, "0", "100000 100000"},
        {{std::nullopt, 2500}, "", "250000 100000"},
        {{1, std::nullopt}, "1", ""},
        {{}, "", ""},
        // The kernel takes no quota below 1000 us.
        {{std::nullopt, 11}, "", "1100 100000"},
        {{std::nullopt, 10}, "", "1000 100000"},
        {{std::nullopt, 9}, "", "1000 100000"},
        {{std::nullopt, 0}, "", "1000 100000"},
        // What is no amount is the least one, and the largest one does not overflow.
        {{-1, -1}, "0", "1000 100000"},
        {{kMost, kMost}, "9223372036854775807", "100000000000 100000"},
    };
    int number = 0;
    for (const Case& each : cases) {
        const std::string name = "yk-" + std::to_string(++number);
        INFO(name);
        plain.add(name);
        CHECK(refusal_of(cgroups.limit(name, each.limits)).empty());
        CHECK(plain.text(name + "/memory.max") == each.memory);
        CHECK(plain.text(name + "/cpu.max") == each.cpu);
    }
}

TEST_CASE("the controllers are handed on to the cgroups of commands") {
    const PlainFolder plain;
    CHECK(plain.cgroups().no_limits().empty());
    CHECK(plain.text("cgroup.subtree_control") == "+memory +cpu");
}

TEST_CASE("without a controller there are cgroups, and no limits") {
    const auto [controllers, missing] = GENERATE(table<std::string, std::string>({{"cpuset cpu io pids\n", "memory"},
                                                                                  {"cpuset io memory\n", "cpu"},
                                                                                  {"cpuset memory.x cpu\n", "memory"},
                                                                                  {"", "memory"}}));
    const PlainFolder plain{controllers};
    const Cgroups cgroups = plain.cgroups();
    CHECK(cgroups.no_limits() == "the controller " + missing + " is not delegated");
    CHECK(plain.text("cgroup.subtree_control").empty());
    CHECK(cgroups.make("yk-1", {64 * kMebibyte, 500}).ok());
    plain.add("yk-2");
    CHECK(cgroups.limit("yk-2", {64 * kMebibyte, 500}).ok());
    CHECK(plain.text("yk-2/memory.max").empty());
    CHECK(plain.text("yk-2/cpu.max").empty());
}

TEST_CASE("a cgroup that cannot hand its controllers on is left by this process, then asked again") {
    const PlainFolder plain;
    const std::string subtree = plain.folder / "cgroup.subtree_control";
    fs::remove(subtree); // the kernel refuses the write while there are processes in the cgroup
    CHECK(plain.cgroups().no_limits() == plain.folder / "yk-own/cgroup.procs" + ": No such file or directory");
    set_text(plain.folder / "yk-own/cgroup.procs", "");
    CHECK(plain.cgroups().no_limits() == subtree + ": No such file or directory");
    CHECK(plain.text("yk-own/cgroup.procs") == "0"); // 0 is whoever writes it
}

TEST_CASE("what a cgroup does not take is refused with the file and the reason") {
    const PlainFolder plain;
    const Cgroups cgroups = plain.cgroups();
    plain.add("yk-1");
    SECTION("the kernel refuses a limit") {
        fs::remove(plain.folder / "yk-1/memory.max");
        fs::create_symlink("/dev/full", plain.folder / "yk-1/memory.max");
        CHECK(refusal_of(cgroups.limit("yk-1", {1, 500})) ==
              plain.folder / "yk-1/memory.max" + ": No space left on device");
        CHECK(plain.text("yk-1/cpu.max").empty());
    }
    SECTION("a file is none") {
        fs::remove(plain.folder / "yk-1/cpu.max");
        fs::create_directory(plain.folder / "yk-1/cpu.max");
        CHECK(refusal_of(cgroups.limit("yk-1", {1, 500})) == plain.folder / "yk-1/cpu.max" + ": Is a directory");
        CHECK(plain.text("yk-1/memory.max") == "1");
    }
    SECTION("a cgroup that cannot have its limits is not left behind") {
        CHECK(refusal_of(cgroups.make("yk-2", {1, 500})) ==
              plain.folder / "yk-2/memory.max" + ": No such file or directory");
        CHECK_FALSE(fs::exists(plain.folder / "yk-2"));
    }
    SECTION("nothing can be made there") {
        set_text(plain.folder / "file", "");
        CHECK(refusal_of(Cgroups::below(plain.folder / "file").make("yk-3", {})) ==
              plain.folder / "file/yk-3" + ": Not a directory");
        CHECK(refusal_of(Cgroups::below(plain.folder / "none").make("yk-3", {})) ==
              plain.folder / "none/yk-3" + ": No such file or directory");
    }
    SECTION("there is nothing to go into") {
        const auto entrance = cgroups.entrance("yk-3");
        REQUIRE_FALSE(entrance.ok());
        CHECK(entrance.error().message == plain.folder / "yk-3/cgroup.procs" + ": No such file or directory");
    }
}

TEST_CASE("a folder that this process may not write gives no cgroup") {
    const PlainFolder plain;
    const Cgroups cgroups = plain.cgroups();
    REQUIRE(::chmod(plain.folder.path().c_str(), 0500) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) { // root may write everywhere, so it becomes somebody
        if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(1);
        const auto made = cgroups.make("yk-1", {});
        ::_exit(made.ok() ? 0 : made.error().code);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(::chmod(plain.folder.path().c_str(), 0700) == 0);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == EACCES);
    CHECK_FALSE(fs::exists(plain.folder / "yk-1"));
}

TEST_CASE("a cgroup is entered and ended by its files, and removed when nothing is in it") {
    const PlainFolder plain;
    const Cgroups cgroups = plain.cgroups();
    plain.add("yk-1");
    const auto entrance = cgroups.entrance("yk-1");
    REQUIRE(entrance.ok());
    REQUIRE(::write(entrance->get(), "0", 1) == 1);
    CHECK(plain.text("yk-1/cgroup.procs") == "0");
    cgroups.kill("yk-1");
    CHECK(plain.text("yk-1/cgroup.kill") == "1");
    CHECK_FALSE(cgroups.remove("yk-1"));
    for (const char* file : {"cgroup.procs", "cgroup.kill", "memory.max", "cpu.max"})
        fs::remove(plain.folder / ("yk-1/" + std::string{file}));
    CHECK(cgroups.remove("yk-1"));
    CHECK_FALSE(fs::exists(plain.folder / "yk-1"));
    CHECK(cgroups.remove("yk-1")); // as it should be
}

TEST_CASE("those of an earlier process are removed by how their names begin, and no others") {
    const PlainFolder plain;
    const Cgroups cgroups = plain.cgroups();
    for (const char* name : {"yk-7-1", "yk-7-2", "yk-70-1", "other"}) REQUIRE(cgroups.make(name, {}).ok());
    cgroups.end_all("yk-7-");
    CHECK_FALSE(fs::exists(plain.folder / "yk-7-1"));
    CHECK_FALSE(fs::exists(plain.folder / "yk-7-2"));
    CHECK(fs::exists(plain.folder / "yk-70-1"));
    CHECK(fs::exists(plain.folder / "other"));
}

TEST_CASE("where there are cgroups a command has one, and nothing escapes its end") {
    auto commands = make_commands();
    if (lacks_cgroups(commands->no_cgroups())) return; // a plain user's session, for instance
    std::string output;
    Command what = command("sed -n 's/^0:://p' /proc/self/cgroup; setsid sleep 1000 & echo $!; exit 0");
    what.output = std::make_unique<Kept>(output);
    what.limits = {64 * kMebibyte, 500};
    started(*commands, std::move(what));
    CHECK(all_ended(*commands).at(0).is_success());
    CHECK(output.find("/yk-" + std::to_string(::getpid()) + "-") != std::string::npos);
    std::istringstream words{output.substr(output.find('\n') + 1)};
    for (pid_t pid = 0; words >> pid;) await_gone(pid);
}

TEST_CASE("a command reads the limits that were asked for in the files of its own cgroup") {
    auto commands = make_commands();
    if (lacks_cgroups(commands->no_cgroups())) return;
    const std::string& no_limits = commands->cgroups()->no_limits();
    if (!no_limits.empty() && is_left_out("no limits: " + no_limits, machine_has_controllers())) return;
    const auto files_of = [&](const Limits& limits) {
        std::string output;
        Command what = command("own=$MOUNT$(sed -n 's/^0:://p' /proc/self/cgroup); cat \"$own/memory.max\" "
                               "\"$own/cpu.max\"");
        what.environment.push_back("MOUNT=" + mount_point());
        what.output = std::make_unique<Kept>(output);
        what.limits = limits;
        started(*commands, std::move(what));
        CHECK(all_ended(*commands).at(0).is_success());
        return output;
    };
    CHECK(files_of({64 * kMebibyte, 500}) == "67108864\n50000 100000\n");
    CHECK(files_of({std::nullopt, 2500}) == "max\n250000 100000\n");
    CHECK(files_of({}) == "max\nmax 100000\n");
}

TEST_CASE("a cgroup that a process of the same number left is emptied and used") {
    auto cgroups = Cgroups::below_own();
    if (lacks_cgroups(cgroups.ok() ? std::string{} : cgroups.error().message)) return;
    const std::string name = "yk-test-" + std::to_string(::getpid());
    REQUIRE(cgroups->make(name, {}).ok());
    const pid_t left = ::fork();
    if (left == 0) {
        auto entrance = cgroups->entrance(name);
        if (!entrance.ok() || ::write(entrance->get(), "0", 1) != 1) ::_exit(1);
        for (;;) ::pause();
    }
    REQUIRE(testing::comes_true(
        [&] { return text_of("/proc/" + std::to_string(left) + "/cgroup").find(name) != std::string::npos; }));
    const auto again = cgroups->make(name, {});
    INFO((again.ok() ? "" : again.error().message));
    CHECK(again.ok());
    int status = 0;
    CHECK(::waitpid(left, &status, 0) == left);
    CHECK(WIFSIGNALED(status));
    CHECK(testing::comes_true([&] { return cgroups->remove(name); }));
}

} // namespace yk::work
