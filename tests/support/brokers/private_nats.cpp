// SPDX-License-Identifier: Apache-2.0
#include "tests/support/brokers/private_nats.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/comes_true.h"

namespace yk::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "/usr/sbin/nats-server";

/// Waits until nobody has the pipe any more, ends the server if it runs, and removes its folder.
[[noreturn]] void watch_until(int pipe, const std::string& folder) {
    char byte = 0;
    while (::read(pipe, &byte, 1) > 0) {
    }
    std::ifstream file{folder + "/pid"};
    if (pid_t server = 0; file >> server) ::kill(server, SIGKILL);
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    ::_exit(0);
}

[[noreturn]] void become(char* const* command, const char* log) {
    const int output = ::open(log, O_WRONLY | O_CREAT | O_APPEND, 0600), input = ::open("/dev/null", O_RDONLY);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL); // a test that is killed leaves none running
    ::dup2(input, 0);
    ::dup2(output, 1);
    ::dup2(output, 2);
    ::execv(kProgram, command);
    ::_exit(127);
}

sockaddr_in address_of(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

template <class Use>
bool succeeds_with(std::uint16_t port, Use&& use) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = address_of(port);
    const bool done = use(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(socket);
    return done;
}

/// Below those that the system gives to connections: one of them might take the port while the server is down.
std::uint16_t free_port() {
    constexpr unsigned kFirst = 20'000, kCount = 10'000;
    static unsigned next = static_cast<unsigned>(::getpid()) * 131;
    for (unsigned tries = 0; tries < kCount; ++tries) {
        const auto port = static_cast<std::uint16_t>(kFirst + next++ % kCount);
        if (succeeds_with(port, ::bind)) return port;
    }
    FAIL("no port is free");
    return 0;
}

} // namespace

bool PrivateNats::is_installed() {
    return fs::exists(kProgram);
}

PrivateNats::PrivateNats() {
    REQUIRE(::mkdtemp(folder_.data()) != nullptr);
    watch();
    port_ = free_port();
    start();
}

PrivateNats::~PrivateNats() {
    kill();
    ::close(end_);
    ::waitpid(watcher_, nullptr, 0);
}

/// It is in a session of its own, so that what ends the tests from a terminal does not end it.
void PrivateNats::watch() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    watcher_ = ::fork();
    if (watcher_ == 0) {
        ::setsid();
        ::close(ends[1]);
        watch_until(ends[0], folder_);
    }
    ::close(ends[0]);
    end_ = ends[1];
}

void PrivateNats::start() {
    std::vector<std::string> words{kProgram, "-a",  "127.0.0.1",        "-p", std::to_string(port_),
                                   "-js",    "-sd", folder_ + "/store", "-P", folder_ + "/pid"};
    if (most_payload_ > 0) { // it has no flag for that
        std::ofstream{folder_ + "/conf"} << "max_payload: " << most_payload_ << '\n';
        words.insert(words.end(), {"-c", folder_ + "/conf"});
    }
    if (!user_.empty()) words.insert(words.end(), {"--user", user_, "--pass", password_});
    std::vector<char*> command;
    command.reserve(words.size() + 1);
    for (std::string& each : words) command.push_back(each.data());
    command.push_back(nullptr);
    const std::string log = folder_ + "/log";
    server_ = ::fork();
    if (server_ == 0) become(command.data(), log.c_str());
    const bool is_up = comes_true([this] {
        if (::waitpid(server_, nullptr, WNOHANG) != 0)
            server_ = -1; // another program may have taken the port meanwhile
        return server_ < 0 || succeeds_with(port_, ::connect);
    });
    std::ifstream file{log};
    INFO(std::string(std::istreambuf_iterator<char>{file}, {}));
    REQUIRE(is_up);
    REQUIRE(server_ > 0);
}

void PrivateNats::kill() {
    if (server_ <= 0) return;
    ::kill(server_, SIGKILL);
    ::waitpid(server_, nullptr, 0);
    server_ = -1;
    ::unlink((folder_ + "/pid").c_str()); // the number may be somebody else's soon
}

void PrivateNats::keep_disk() const {
    fs::remove_all(folder_ + "/kept");
    fs::copy(folder_ + "/store", folder_ + "/kept", fs::copy_options::recursive);
}

void PrivateNats::restore_disk() const {
    fs::remove_all(folder_ + "/store");
    fs::copy(folder_ + "/kept", folder_ + "/store", fs::copy_options::recursive);
}

void PrivateNats::signal(int number) const {
    ::kill(server_, number);
}

} // namespace yk::testing
