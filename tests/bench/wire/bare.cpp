// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/wire/bare.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>
#include <nng/protocol/reqrep0/req.h>

#include "libcore/base/check.h"
#include "tests/bench/measure/isolate.h"

namespace yk::bench {

namespace {

constexpr std::size_t kMessage = 256; // bytes, about those of a request with one ask
constexpr nng_duration kPatience = 30'000;

/// Sends back what comes, for as long as its parent lives.
[[noreturn]] void echo(const std::string& url) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    nng_socket socket{};
    YK_CHECK(nng_rep0_open(&socket) == 0 && nng_listen(socket, url.c_str(), nullptr, 0) == 0, "nng cannot listen");
    for (nng_msg* message = nullptr; nng_recvmsg(socket, &message, 0) == 0;)
        if (nng_sendmsg(socket, message, 0) != 0) break;
    _exit(0);
}

nng_socket dial(const std::string& url) {
    nng_socket socket{};
    YK_CHECK(nng_req0_open(&socket) == 0, "nng opens no socket");
    nng_socket_set_ms(socket, NNG_OPT_RECVTIMEO, kPatience);
    nng_socket_set_ms(socket, NNG_OPT_SENDTIMEO, kPatience);
    // Not waited for here: the other process may not listen yet.
    YK_CHECK(nng_dial(socket, url.c_str(), nullptr, NNG_FLAG_NONBLOCK) == 0, "nng cannot dial");
    return socket;
}

void round_trip(nng_socket socket) {
    nng_msg* message = nullptr;
    YK_CHECK(nng_msg_alloc(&message, kMessage) == 0, "no memory for a message");
    YK_CHECK(nng_sendmsg(socket, message, 0) == 0 && nng_recvmsg(socket, &message, 0) == 0, "no round trip");
    nng_msg_free(message);
}

Sample measure(const std::string& url, std::uint32_t steps) {
    const pid_t other = fork();
    YK_CHECK(other >= 0, "cannot fork");
    if (other == 0) echo(url);
    const nng_socket socket = dial(url);
    round_trip(socket); // it is connected
    Sample sample;
    std::vector<float> latencies;
    latencies.reserve(steps);
    const Stopwatch watch;
    for (std::uint32_t step = 0; step < steps; ++step) {
        const double start = wall_seconds();
        round_trip(socket);
        latencies.push_back(static_cast<float>(wall_seconds() - start));
    }
    watch.stop(sample);
    nng_close(socket);
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
    sample.placed = sample.asked = steps;
    sample.peak_rss = peak_rss();
    set_latencies(sample, latencies);
    return sample;
}

} // namespace

Result<Sample> run_bare_round_trips(std::uint32_t steps) {
    std::array<char, 32> folder{"/tmp/yk-bare-XXXXXX"};
    if (mkdtemp(folder.data()) == nullptr) return Error::at(folder.data(), "cannot make a folder");
    auto sample =
        isolated("the bare round trip", [&] { return measure("ipc://" + std::string{folder.data()} + "/s", steps); });
    std::error_code ignored;
    std::filesystem::remove_all(folder.data(), ignored);
    return sample;
}

} // namespace yk::bench
