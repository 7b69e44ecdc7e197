// SPDX-License-Identifier: Apache-2.0
#include "protocol/work/commands.h"

#include <fcntl.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "tests/unit/protocol/work/running.h"

namespace yk::work {
namespace {

Ended end_of(Command what) {
    Ended how;
    output_of(std::move(what), &how);
    return how;
}

/// Waits until a command has written so many lines.
void await_lines(Commands& commands, const std::string& output, std::ptrdiff_t lines) {
    run_until(
        commands.descriptor(), [&] { REQUIRE(commands.step(Clock::now()).empty()); },
        [&] { return std::count(output.begin(), output.end(), '\n') >= lines; });
}

std::vector<pid_t> pids_in(const std::string& text) {
    std::istringstream words{text};
    std::vector<pid_t> pids;
    for (pid_t pid = 0; words >> pid;) pids.push_back(pid);
    return pids;
}

TEST_CASE("a command ends with its exit code, or by a signal") {
    CHECK(end_of(command("exit 0")).is_success());
    CHECK(end_of(command("exit 7")).code == 7);
    CHECK(text(end_of(command("exit 7"))) == "exit code 7");
    CHECK(end_of(command("nonsense-that-is-nowhere")).code == 127);
    const Ended killed = end_of(command("kill -TERM $$"));
    CHECK(killed.signal == SIGTERM);
    CHECK_FALSE(killed.is_success());
    CHECK(text(killed) == "signal 15 (Terminated)");
}

TEST_CASE("its output comes in order, both streams together, whatever its size") {
    CHECK(output_of(command("echo one; echo two >&2; echo three")) == "one\ntwo\nthree\n");
    const std::string large = output_of(command("head -c 3000000 /dev/zero | tr '\\0' x"));
    CHECK(large.size() == 3'000'000);
    CHECK(std::all_of(large.begin(), large.end(), [](char c) { return c == 'x'; }));
}

TEST_CASE("it has the environment that it was given, and nothing else") {
    ::setenv("YK_TEST_SECRET", "1", 1);
    Command what = command("env | grep -v '^PWD=\\|^OLDPWD=\\|^_=\\|^SHLVL=' | sort");
    what.environment = {"PATH=/usr/bin:/bin", "A=with blanks\nand lines", "B="};
    const std::string printed = output_of(std::move(what));
    CHECK(printed == "A=with blanks\nB=\nPATH=/usr/bin:/bin\nand lines\n");
    ::unsetenv("YK_TEST_SECRET");
}

TEST_CASE("it reads what it was given, else nothing") {
    CHECK(output_of(command("cat; echo end")) == "end\n");
    Command what = command("cat");
    what.input = std::string(1'000'000, 'y');
    const std::string printed = output_of(std::move(what));
    CHECK(printed.size() == 1'000'000);
}

TEST_CASE("it inherits no descriptor, signal mask or ignored signal") {
    const int leaked = ::open("/dev/null", O_RDONLY); // without O_CLOEXEC
    std::array<int, 2> pipe{};
    REQUIRE(::pipe(pipe.data()) == 0);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGUSR1);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    const auto former = std::signal(SIGPIPE, SIG_IGN);
    const std::string files = output_of(command("ls /proc/$$/fd; true"));
    const std::string masks = output_of(command("exec grep '^Sig[BI]' /proc/self/status"));
    std::signal(SIGPIPE, former);
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    for (const int each : {leaked, pipe[0], pipe[1]}) ::close(each);
    CHECK(files == "0\n1\n2\n");
    CHECK(masks.find("SigBlk:\t0000000000000000") != std::string::npos);
    CHECK(masks.find("SigIgn:\t0000000000000000") != std::string::npos);
}

TEST_CASE("a command that is asked to end may do that in its own way") {
    auto commands = make_commands();
    std::string output;
    Command what = command("trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done");
    what.output = std::make_unique<Kept>(output);
    const auto id = started(*commands, std::move(what));
    await_lines(*commands, output, 1);
    commands->end(id, Clock::now());
    const auto ended = all_ended(*commands);
    REQUIRE(ended.size() == 1);
    CHECK(ended[0].code == 3);
    CHECK(output.substr(output.size() - 4) == "bye\n"); // a shell may say before that its child was ended
}

TEST_CASE("one that ignores SIGTERM is killed after the grace, and not before") {
    Commands::Options options;
    options.grace = seconds{10};
    auto commands = make_commands(options);
    std::string output;
    Command what = command("trap '' TERM; echo ready; while :; do sleep 1; done");
    what.output = std::make_unique<Kept>(output);
    const auto id = started(*commands, std::move(what));
    await_lines(*commands, output, 1);
    const TimePoint asked = Clock::now();
    commands->end(id, asked);
    CHECK(commands->due() == asked + seconds{10});
    CHECK(commands->step(asked + milliseconds{9999}).empty());
    CHECK(commands->size() == 1);
    CHECK(commands->step(asked + seconds{10}).empty()); // it is killed, and has not ended yet
    const auto ended = all_ended(*commands);
    REQUIRE(ended.size() == 1);
    CHECK(ended[0].signal == SIGKILL);
}

TEST_CASE("a stopped command ends, too") {
    auto commands = make_commands();
    std::string output;
    Command what = command("echo ready; kill -STOP $$");
    what.output = std::make_unique<Kept>(output);
    const auto id = started(*commands, std::move(what));
    await_lines(*commands, output, 1);
    commands->end(id, Clock::now());
    CHECK(all_ended(*commands).at(0).signal == SIGTERM);
}

TEST_CASE("its time limit ends a command, and that is said") {
    auto commands = make_commands();
    Command what = command("sleep 1000");
    what.time_limit = milliseconds{20};
    started(*commands, std::move(what));
    const auto ended = all_ended(*commands);
    REQUIRE(ended.size() == 1);
    CHECK(ended[0].out_of_time);
    CHECK(text(ended[0]) == "its time was over: signal 15 (Terminated)");
}

TEST_CASE("children and their children end with their command") {
    auto commands = make_commands();
    std::string output;
    SECTION("which is asked to end") {
        Command what = command("(trap '' TERM; sleep 1000 & echo $!; sleep 1000 & echo $!; wait) & wait");
        what.output = std::make_unique<Kept>(output);
        const auto id = started(*commands, std::move(what));
        await_lines(*commands, output, 2);
        commands->end(id, Clock::now());
    }
    SECTION("which ends by itself") {
        Command what = command("sleep 1000 & echo $!; (sleep 1000 & echo $!); exit 4");
        what.output = std::make_unique<Kept>(output);
        started(*commands, std::move(what));
    }
    const auto ended = all_ended(*commands);
    CHECK(ended.size() == 1);
    const auto pids = pids_in(output);
    REQUIRE(pids.size() == 2);
    for (const pid_t pid : pids) await_gone(pid);
}

TEST_CASE("a child that keeps the output open does not hold up the end") {
    auto commands = make_commands();
    std::string output;
    Command what =
        command("setsid sh -c 'echo $$; exec sleep 1000' & while [ ! -e /proc/$! ]; do :; done; sleep 0.1; exit 5");
    what.output = std::make_unique<Kept>(output);
    started(*commands, std::move(what));
    CHECK(all_ended(*commands).at(0).code == 5);
    for (const pid_t pid : pids_in(output)) ::kill(pid, SIGKILL); // it left the group
}

TEST_CASE("what the end of this process leaves, the guard ends") {
    std::array<int, 2> pipe{};
    REQUIRE(::pipe(pipe.data()) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        Commands::Options options;
        options.may_be_root = true;
        auto commands = Commands::make(options);
        if (!commands.ok()) ::_exit(1);
        class Into final : public Output {
        public:
            explicit Into(int file) : file_(file) {}
            void write(std::string_view text) override { static_cast<void>(!::write(file_, text.data(), text.size())); }

        private:
            int file_;
        };
        Command what;
        what.text = "sleep 1000 & echo $! $$; wait";
        what.environment = {"PATH=/usr/bin:/bin"};
        what.output = std::make_unique<Into>(pipe[1]);
        if (!(*commands)->start(std::move(what), Clock::now()).ok()) ::_exit(2);
        while (true) {
            static_cast<void>((*commands)->step(Clock::now()));
            static_cast<void>(::poll(nullptr, 0, 1));
        }
    }
    ::close(pipe[1]);
    std::string output;
    std::array<char, 64> buffer{};
    while (output.find('\n') == std::string::npos) {
        const ssize_t got = ::read(pipe[0], buffer.data(), buffer.size());
        REQUIRE(got > 0);
        output.append(buffer.data(), static_cast<std::size_t>(got));
    }
    ::close(pipe[0]);
    const auto pids = pids_in(output);
    REQUIRE(pids.size() == 2);
    for (const pid_t pid : pids) CHECK(is_alive(pid));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    for (const pid_t pid : pids) await_gone(pid);
}

TEST_CASE("a guard that somebody ended is replaced") {
    auto commands = make_commands();
    const pid_t first = commands->guard();
    ::kill(first, SIGKILL);
    siginfo_t how{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(first), &how, WEXITED | WNOWAIT) == 0);
    started(*commands, command("exit 0"));
    CHECK(commands->guard() != first);
    CHECK(all_ended(*commands).at(0).is_success());
}

TEST_CASE("a thousand commands at once, and no more") {
    auto commands = make_commands();
    std::vector<std::string> outputs(1000);
    std::set<std::uint64_t> ids;
    for (int i = 0; i < 1000; ++i) {
        Command what = command("echo " + std::to_string(i) + "; read line; exit 1");
        what.output = std::make_unique<Kept>(outputs[static_cast<std::size_t>(i)]);
        what.text = "echo " + std::to_string(i) + "; exec sleep 1000";
        ids.insert(started(*commands, std::move(what)));
    }
    CHECK(ids.size() == 1000);
    const auto refused = commands->start(command("exit 0"), Clock::now());
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message == "1000 commands run already");
    run_until(
        commands->descriptor(), [&] { REQUIRE(commands->step(Clock::now()).empty()); },
        [&] { return std::none_of(outputs.begin(), outputs.end(), [](const auto& each) { return each.empty(); }); });
    for (const auto id : ids) commands->end(id, Clock::now());
    for (const Ended& each : all_ended(*commands)) {
        CHECK(each.signal == SIGTERM);
        CHECK(ids.erase(each.id) == 1);
    }
    CHECK(ids.empty());
    for (int i = 0; i < 1000; ++i) CHECK(outputs[static_cast<std::size_t>(i)] == std::to_string(i) + "\n");
}

TEST_CASE("as many as are allowed run whatever the limit of files was, which commands keep") {
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit low{100, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
    Commands::Options options;
    options.most = 200;
    {
        auto commands = make_commands(options);
        std::vector<std::string> outputs(200);
        for (std::string& output : outputs) {
            Command what = command("ulimit -n");
            what.output = std::make_unique<Kept>(output);
            started(*commands, std::move(what));
        }
        CHECK(all_ended(*commands).size() == 200);
        CHECK(std::all_of(outputs.begin(), outputs.end(), [](const auto& each) { return each == "100\n"; }));
    }
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
}

TEST_CASE("what cannot be a command is refused with the reason") {
    auto commands = make_commands();
    const auto refused = [&](Command what) {
        const auto id = commands->start(std::move(what), Clock::now());
        return id.ok() ? std::string{"started"} : id.error().text();
    };
    CHECK(refused(command("")) == "the command is empty");
    CHECK(refused(command(std::string(1U << 20U, 'x'))) == "the command has 1048576 bytes, 65536 are allowed");
    CHECK(refused(command(std::string("a\0b", 3))) == "a command and its environment cannot have a NUL byte");
    Command large = command("exit 0");
    large.environment = {"A=" + std::string(300'000, 'x')};
    const std::string refusal = refused(std::move(large));
    CHECK(refusal == "its environment has 300003 bytes, 262144 are allowed");
    Command largest = command("# " + std::string(Commands::kLongestText - 2, 'x'));
    started(*commands, std::move(largest));
    CHECK(all_ended(*commands).at(0).is_success());
}

TEST_CASE("nobody becomes root by chance, and root may become somebody") {
    auto made = Commands::make({});
    REQUIRE(made.ok());
    Commands& commands = **made;
    const auto refusal_of = [&commands](Identity identity) {
        Command what = command("exit 0");
        what.identity = std::move(identity);
        const auto id = commands.start(std::move(what), Clock::now());
        return id.ok() ? std::string{"started"} : id.error().message;
    };
    for (const Identity& root : {Identity{0, 1, {}}, Identity{1, 0, {}}, Identity{65534, 65534, {0}}})
        CHECK(refusal_of(root) == "a command may not be given the identity of root");
    if (::geteuid() != 0) return; // the rest needs root, which the tests are in CI
    CHECK(commands.start(command("exit 0"), Clock::now()).error().message.find("this process is root") == 0);
    std::string output;
    Command what = command("id -u; id -g; id -G; touch /root/yk-test 2>/dev/null || echo no");
    what.identity = Identity{65534, 65533, {65533, 65532}};
    what.output = std::make_unique<Kept>(output);
    started(commands, std::move(what));
    CHECK(all_ended(commands).at(0).is_success());
    CHECK(output == "65534\n65533\n65533 65532\nno\n");
}

} // namespace
} // namespace yk::work
