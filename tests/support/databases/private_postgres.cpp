// SPDX-License-Identifier: Apache-2.0
#ifdef YK_WITH_PG
#include "tests/support/databases/private_postgres.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "libcore/base/number.h"
#include "protocol/databases/postgres/postgres_session.h"

namespace yk::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrograms = "/usr/lib/postgresql/15/bin";

/// A test fails with what is thrown, and a program without tests can catch it.
void must(bool is_done, const std::string& what) {
    if (!is_done) throw std::runtime_error("private PostgreSQL: " + what);
}

pid_t server_process(const std::string& data) {
    std::ifstream file{data + "/postmaster.pid"};
    pid_t process = 0;
    return file >> process ? process : 0;
}

/// The process and its children.
std::vector<pid_t> family_of(pid_t process) {
    std::vector<pid_t> family{process};
    for (const auto& entry : fs::directory_iterator{"/proc"}) {
        const auto child = to_number<pid_t>(entry.path().filename().string());
        std::ifstream file{entry.path() / "stat"};
        std::string number, name, state;
        pid_t parent = 0;
        if (child && file >> number >> name >> state >> parent && parent == process) family.push_back(*child);
    }
    return family;
}

/// Waits until nobody has the pipe any more, stops the server if it runs, and removes its folder.
[[noreturn]] void watch_until(int pipe, const std::string& folder) {
    char byte = 0;
    while (::read(pipe, &byte, 1) > 0) {
    }
    const pid_t server = server_process(folder + "/data");
    for (int tries = 0; server > 0 && ::kill(server, 0) == 0 && tries < 200; ++tries) {
        for (const pid_t each : family_of(server)) {
            ::kill(each, SIGCONT); // a test may have stopped it
            ::kill(each, tries < 100 ? SIGQUIT : SIGKILL);
        }
        ::usleep(50'000);
    }
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    ::_exit(0);
}

/// The server does not run as root.
const passwd* server_user() {
    return ::geteuid() == 0 ? ::getpwnam("nobody") : nullptr;
}

[[noreturn]] void become(const std::vector<std::string>& command, const std::string& log) {
    if (const passwd* const user = server_user()) {
        if (::setgroups(0, nullptr) != 0 || ::setgid(user->pw_gid) != 0 || ::setuid(user->pw_uid) != 0) ::_exit(126);
    }
    const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600), input = ::open("/dev/null", O_RDONLY);
    ::dup2(input, 0);
    ::dup2(output, 1);
    ::dup2(output, 2);
    if (::chdir("/") != 0) ::_exit(126);
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
    arguments.push_back(nullptr);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
}

} // namespace

PrivatePostgres* PrivatePostgres::get() {
    static const std::unique_ptr<PrivatePostgres> kServer =
        fs::exists(std::string{kPrograms} + "/postgres") ? std::make_unique<PrivatePostgres>(kPrograms) : nullptr;
    return kServer.get();
}

PrivatePostgres::PrivatePostgres(std::string programs) : programs_(std::move(programs)) {
    must(::mkdtemp(folder_.data()) != nullptr, "cannot make " + folder_);
    if (const passwd* const user = server_user())
        must(::chown(folder_.c_str(), user->pw_uid, user->pw_gid) == 0, "cannot give " + folder_ + " to its user");
    watch();
    run({"initdb", "-D", data(), "-A", "trust", "-U", "yk", "-N", "--locale=C", "-E", "UTF8"});
    start(Disk::Ignored);
}

PrivatePostgres::~PrivatePostgres() {
    ::close(end_);
    ::waitpid(watcher_, nullptr, 0);
}

/// It is in a session of its own, so that what ends the tests from a terminal does not end it.
void PrivatePostgres::watch() {
    int ends[2];
    must(::pipe2(ends, O_CLOEXEC) == 0, "cannot make a pipe");
    watcher_ = ::fork();
    if (watcher_ == 0) {
        ::setsid();
        ::close(ends[1]);
        watch_until(ends[0], folder_);
    }
    ::close(ends[0]);
    end_ = ends[1];
}

void PrivatePostgres::run(const std::vector<std::string>& command) const {
    std::vector<std::string> full = command;
    if (!full[0].starts_with('/')) full[0] = programs_ + '/' + full[0];
    const pid_t child = ::fork();
    if (child == 0) become(full, folder_ + "/log");
    int status = -1;
    ::waitpid(child, &status, 0);
    std::ifstream log{folder_ + "/log"};
    must(status == 0, command[0] + ": " + std::string(std::istreambuf_iterator<char>{log}, {}));
}

void PrivatePostgres::start(Disk disk) const {
    const std::string sync = disk == Disk::Waited ? "on" : "off";
    const std::string options =
        "-c autovacuum=off -c listen_addresses= -c max_connections=100 -c unix_socket_directories=" + folder_ +
        " -c fsync=" + sync + " -c synchronous_commit=" + sync + " -c full_page_writes=" + sync;
    run({"pg_ctl", "-w", "-t", "300", "start", "-D", data(), "-l", folder_ + "/server.log", "-o", options});
}

void PrivatePostgres::stop_at_once() const {
    run({"pg_ctl", "-w", "stop", "-m", "immediate", "-D", data()});
}

void PrivatePostgres::stop() const {
    run({"pg_ctl", "-w", "-t", "300", "stop", "-m", "fast", "-D", data()});
}

void PrivatePostgres::mark_as_replica() const {
    std::ofstream{data() + "/standby.signal"}.close();
    if (const passwd* const user = server_user())
        must(::chown((data() + "/standby.signal").c_str(), user->pw_uid, user->pw_gid) == 0, "cannot give it a file");
}

void PrivatePostgres::become_replica() const {
    stop_at_once();
    mark_as_replica();
    start(Disk::Ignored);
}

void PrivatePostgres::keep_copy() const {
    stop();
    fs::remove_all(copy());
    run({"/bin/cp", "-a", data(), copy()});
    start(Disk::Ignored);
}

void PrivatePostgres::go_back_to_copy(Role role) const {
    stop();
    fs::remove_all(data());
    fs::rename(copy(), data());
    if (role == Role::Replica) mark_as_replica();
    start(Disk::Ignored);
}

void PrivatePostgres::promote() const {
    run({"pg_ctl", "-w", "promote", "-D", data()});
}

std::string PrivatePostgres::url(const std::string& database) const {
    return "host=" + folder_ + " user=yk dbname=" + database;
}

void PrivatePostgres::type(const std::string& sql) const {
    auto session = rs::PostgresSession::open({url("postgres"), std::chrono::seconds{30}});
    must(session.ok(), session.ok() ? "" : session.error().message);
    const auto answer = (*session)->query(sql);
    must(answer.ok(), sql + ": " + (answer.ok() ? "" : answer.error().message));
}

void PrivatePostgres::signal_all(int number) const {
    for (const pid_t each : family_of(server_process(data()))) ::kill(each, number);
}

} // namespace yk::testing
#endif
