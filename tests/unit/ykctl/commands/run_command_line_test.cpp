// SPDX-License-Identifier: Apache-2.0
// The command line as a whole, as far as it needs no daemon.

#include "ykctl/commands/run_command_line.h"

#include <catch2/catch.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace yk::cli;
using yk::wire::Value;

namespace {

struct Ran {
    int exit = 0;
    std::string out;
    std::string err;
};

using Variables = std::map<std::string, std::string>;

Ran run_with(const Variables& variables, const std::vector<std::string>& arguments, const std::string& input = {}) {
    std::istringstream in{input};
    std::ostringstream out;
    std::ostringstream err;
    const auto environment = [&](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional{found->second};
    };
    const int exit = run(arguments, {in, out, err, false, false}, environment, "9.8.7");
    return {exit, out.str(), err.str()};
}

Ran ykctl(const std::vector<std::string>& arguments, const std::string& input = {}) {
    return run_with({}, arguments, input);
}

/// A directory with a client file.
class ClientFile {
public:
    explicit ClientFile(const std::string& text) {
        char name[] = "/tmp/ykctl-test-XXXXXX";
        directory_ = ::mkdtemp(name);
        ::mkdir((directory_ + "/ykctl").c_str(), 0700);
        std::ofstream{path()} << text;
    }
    ~ClientFile() { std::filesystem::remove_all(directory_); }
    [[nodiscard]] std::string folder() const { return directory_ + "/ykctl"; }
    [[nodiscard]] std::string path() const { return folder() + "/config.yaml"; }
    [[nodiscard]] Variables variables() const { return {{"XDG_CONFIG_HOME", directory_}}; }

private:
    std::string directory_;
};

const std::string kNowhere = "ipc:///nonexistent/a.sock";

void each_command(const CommandInfo& command, const std::vector<std::string>& path,
                  const std::function<void(const CommandInfo&, const std::vector<std::string>&)>& visit) {
    visit(command, path);
    for (const auto& child : command.commands) {
        auto below = path;
        below.push_back(child.name);
        each_command(child, below, visit);
    }
}

} // namespace

TEST_CASE("4.4 typing errors name the nearest command or option, exit 2") {
    const auto typo = [](const std::vector<std::string>& arguments) {
        const auto ran = ykctl(arguments);
        CHECK(ran.exit == 2);
        CHECK(ran.out.empty());
        return ran.err.substr(0, ran.err.find('\n'));
    };
    CHECK(typo({"nod", "list"}) == "ykctl: unknown command 'nod'; did you mean 'node'?");
    CHECK(typo({"node", "lst"}) == "ykctl: unknown command 'lst' for 'node'; did you mean 'list'?");
    CHECK(typo({"node", "list", "--wach"}) ==
          "ykctl: unknown option '--wach' for 'ykctl node list'; did you mean '--watch'?");
    CHECK(typo({"node", "list", "-o", "jsn"}) ==
          "ykctl: --output: 'jsn' is not one of table, wide, json, jsonl, yaml, name; did you mean 'json'?");
    CHECK(typo({"queue", "tree", "surplus"}) == "ykctl: unexpected argument 'surplus' for 'ykctl queue tree'");
    CHECK(typo({"node"}).rfind("ykctl: 'ykctl node' needs a command: add, list, show", 0) == 0);
    CHECK(typo({}).rfind("ykctl: 'ykctl' needs a command: status, ", 0) == 0);
    CHECK(typo({"rm", "register"}) == "ykctl: RMID is required");
    CHECK(typo({"ping", "-c", "many"}) == "ykctl: --count: 'many' is not a whole number");
    CHECK(typo({"clock", "advance", "10"}).find("10") != std::string::npos);
}

TEST_CASE("B9 words of other tools are understood, or answered with what is done here") {
    const auto hint = [](const std::vector<std::string>& arguments) {
        const auto ran = ykctl(arguments);
        CHECK(ran.exit == 2);
        return ran.err;
    };
    using Catch::Matchers::Contains;
    CHECK(hint({"show", "node"}) == "ykctl: unknown command 'show'\n  the noun comes first:  ykctl node show\n");
    CHECK_THAT(hint({"get", "nodes"}), Contains("the noun comes first:  ykctl node list"));
    CHECK_THAT(hint({"-r", "a", "describe", "app", "x"}), Contains("the noun comes first:  ykctl app show"));
    CHECK_THAT(hint({"delete", "app", "x"}), Contains("ykctl app remove"));
    CHECK_THAT(hint({"create", "queue"}), Contains("ykctl config reload -f FILE"));
    CHECK_THAT(hint({"queue", "add", "root.x"}), Contains("ykctl config reload -f FILE"));
    CHECK_THAT(hint({"top", "nodes"}), Contains("ykctl top, then 2"));
    CHECK_THAT(hint({"job", "status"}), Contains("'job'") && Contains("ykctl app list"));
    CHECK_THAT(hint({"endpoint", "health"}), Contains("ykctl health"));
    CHECK_THAT(hint({"apply", "-f", "q.yaml"}), Contains("q.yaml: cannot be opened"));
    CHECK_THAT(hint({"delete", "queue", "x"}), Contains("queues live in the configuration"));
    CHECK_THAT(hint({"apply", "deployment", "x"}), Contains("the noun comes first:  ykctl deployment apply"));
    CHECK_THAT(hint({"apply", "q.yaml"}), Contains("a file?  ykctl apply -f q.yaml"));
    CHECK_THAT(hint({"ask", "add", "job", "k1"}), Contains("a key?  ykctl ask add APP --key k1"));
    CHECK_THAT(hint({"explain", "ask", "job", "k1"}), Contains("of an application?  ykctl explain ask KEY --app APP"));
    CHECK_THAT(hint({"explain", "k1"}), Contains("ykctl explain ask KEY"));
    CHECK_THAT(hint({"drain", "n"}), Contains("ykctl node drain"));
    CHECK_THAT(hint({"uncordon", "n"}), Contains("ykctl node undrain"));
    CHECK_THAT(hint({"config", "use-context"}), Contains("ykctl context use"));
    CHECK_THAT(hint({"edit"}), Contains("ykctl config edit"));
    CHECK_THAT(hint({"node", "list", "-o", "jsonpath={.x}"}), Contains("--columns name,.capacity.vcore"));
    CHECK_THAT(hint({"ask", "add", "big", "--cpu", "1"}), Contains("-R memory=4Gi,vcore=1"));
    for (const char* word : {"reload", "reconfigure", "sinfo", "squeue", "auth", "info", "cluster-info",
                             "api-resources", "cordon", "logs", "stats"})
        CHECK_THAT(hint({word}), Contains("ykctl") && !Contains("did you mean") && !Contains("what is there?"));
}

TEST_CASE("B9 a word that means one of ours is taken for it") {
    for (const auto& arguments : std::vector<std::vector<std::string>>{{"nodes", "list"},
                                                                       {"applications", "list"},
                                                                       {"application", "show", "x"},
                                                                       {"allocations"},
                                                                       {"allocation", "list"},
                                                                       {"deploy", "list"},
                                                                       {"apps", "show", "x"},
                                                                       {"app", "delete", "x"},
                                                                       {"app", "kill", "x"},
                                                                       {"ask", "delete", "k"},
                                                                       {"alloc", "delete", "k"},
                                                                       {"node", "describe", "n"},
                                                                       {"node", "get"},
                                                                       {"node", "cordon", "n"},
                                                                       {"node", "uncordon", "n"},
                                                                       {"config", "view"},
                                                                       {"config", "get"},
                                                                       {"app", "show", "delete"}}) {
        auto all = arguments;
        all.insert(all.end(), {"-s", kNowhere});
        CHECK(ykctl(all).exit == 3);
    }
}

TEST_CASE("what begins with - is an argument behind --") {
    CHECK(ykctl({"-s", kNowhere, "node", "show", "--", "-x"}).exit == 3);
    CHECK(ykctl({"-s", kNowhere, "queue", "tree", "--", "-x"}).err.find("'-x'") != std::string::npos);
    CHECK(ykctl({"clock", "advance", "--", "-5s"}).err.find("-5s") != std::string::npos);
}

TEST_CASE("help and --version as everybody tries them first") {
    const auto help = ykctl({"help"});
    CHECK(help.exit == 0);
    CHECK(help.out.find("Usage: ykctl [OPTIONS] [COMMAND]") != std::string::npos);
    CHECK(help.out.find("\n  scenario ") != std::string::npos);
    CHECK(help.out.find("exit-codes") != std::string::npos);
    CHECK(ykctl({"help", "node", "add"}).out.find("Usage: ykctl node add ") != std::string::npos);
    CHECK(ykctl({"--version"}).out == "ykctl 9.8.7\n");
}

TEST_CASE("annoyance 4: each help ends with an example that is understood, and says where the other options are") {
    each_command(yk::cli::command_tree(), {}, [](const CommandInfo& command, const std::vector<std::string>& path) {
        if (command.hidden || path.empty()) return;
        auto words = path;
        words.emplace_back("--help");
        const auto help = ykctl(words).out;
        CAPTURE(help);
        const auto at = help.find("\nExample: ykctl ");
        REQUIRE(at != std::string::npos);
        CHECK(help.find("see ykctl --help") > at);
        std::istringstream example{help.substr(at + 16, help.find('\n', at + 1) - at - 16)};
        const std::vector<std::string> typed{std::istream_iterator<std::string>{example}, {}};
        CHECK(std::equal(path.begin(), path.end(), typed.begin()));
        const auto said = run_with({{"YKCTL_SOCKET", kNowhere}, {"YKCTL_TIMEOUT", "1ms"}}, typed).err;
        CAPTURE(said);
        for (const char* wrong : {"unknown", "unexpected", "required", "is not one of"})
            CHECK(said.find(wrong) == std::string::npos);
    });
}

TEST_CASE("contexts: a daemon by its name, and where no other one is named") {
    const ClientFile file{"rm: of-file\n"};
    const auto variables = file.variables();
    const auto line = [&](const std::vector<std::string>& words, Variables more = {}) {
        more.insert(variables.begin(), variables.end());
        return run_with(more, words);
    };
    const auto setting = [&](const std::string& name, std::vector<std::string> words, const Variables& more = {}) {
        words.insert(words.end(), {"config", "view-client", "-o", "jsonl"});
        const auto shown = line(words, more);
        const auto at = shown.out.find("{\"name\":\"" + name + "\"");
        return at == std::string::npos ? shown.err : shown.out.substr(at, shown.out.find('\n', at) - at);
    };
    CHECK(line({"context", "list"}).out == "no contexts; one is made by  ykctl context add NAME -s URL\n");
    CHECK(line({"context", "add", "a"}).err == "ykctl: context a needs a daemon's address\n  -s URL\n");
    CHECK(line({"context", "add", "a", "-s", "/nonexistent/a", "-r", "rm-a"}).exit == 0);
    CHECK(line({"context", "add", "a", "-s", "/nonexistent/b"}).err ==
          "ykctl: there is a context a already\n  --replace, or another name\n");
    CHECK(line({"context", "add", "b", "-s", "tcp://h:1", "--token-file", "/nonexistent/token"}).exit == 2); // no token
    CHECK(line({"context", "add", "b c", "-s", "/b"}).exit == 2);
    CHECK(line({"context", "add", "b", "-s", "../b"}).exit == 0); // wherever it is used
    CHECK(setting("socket", {"--context", "b"}).find((std::filesystem::current_path().parent_path() / "b").string()) !=
          std::string::npos);
    CHECK(line({"context", "add", "b", "-s", "/nonexistent/b", "--replace"}).exit == 0);
    CHECK(setting("socket", {"--context", "a"}) ==
          R"({"name":"socket","value":"/nonexistent/a","source":"context a"})");
    CHECK(setting("rm", {"--context", "a"}, {{"YKCTL_RM", "v"}}) ==
          R"({"name":"rm","value":"rm-a","source":"context a"})");
    CHECK(line({"status", "--context", "c"}).err == "ykctl: there is no context 'c'\n  there are:  a, b\n");
    CHECK(line({"status", "--context", "c"}).exit == 4);

    CHECK(line({"context", "use", "c"}).exit == 4);
    CHECK(line({"context", "use", "a"}).err == "ykctl: context a is used\n");
    CHECK(line({"context", "ls", "--columns", "name,used,rm"}).out ==
          "NAME  USED  RM\na     yes   rm-a\nb     -     -\n");
    CHECK(setting("rm", {}) == R"({"name":"rm","value":"rm-a","source":"context a"})");
    CHECK(setting("rm", {"-s", "/other"}).find("of-file") !=
          std::string::npos); // what a context says is for its daemon
    CHECK(setting("rm", {}, {{"YKCTL_SOCKET", "/other"}}).find("of-file") != std::string::npos);
    CHECK(setting("socket", {}, {{"YKCTL_CONTEXT", "b"}}).find("/nonexistent/b") != std::string::npos);
    CHECK(line({"context", "use", "--none"}).exit == 0);
    CHECK(setting("rm", {}).find("of-file") != std::string::npos);
    CHECK(line({"context", "use", "b"}).exit == 0);
    CHECK(line({"context", "rm", "b"}).exit == 0);
    CHECK(line({"context", "list", "-o", "name"}).out == "a\n");

    std::ofstream{file.folder() + "/contexts.yaml"} << "used: x\ncontexts:\n  a: {socket: /a, tokn-file: b}\n";
    CHECK(line({"status"}).err == "ykctl: " + file.folder() +
                                      "/contexts.yaml:3:19: unknown key 'tokn-file'; did you mean "
                                      "'token-file'?\n  mend the file, or remove it: contexts are all that it has\n");
    std::ofstream{file.folder() + "/contexts.yaml"} << "used: x\n";
    CHECK(line({"context", "list"}).err.find("used: there is no context 'x'") != std::string::npos);
}

TEST_CASE("words of arguments are not taken for commands") {
    for (const auto& arguments : std::vector<std::vector<std::string>>{
             {"dump", "config"}, {"app", "show", "node"}, {"explain", "app", "replay"}, {"queue", "show", "status"}}) {
        auto all = arguments;
        all.insert(all.end(), {"-s", kNowhere});
        CHECK(ykctl(all).exit == 3);
    }
}

TEST_CASE("options of the root go before and after the command") {
    CHECK(ykctl({"-s", kNowhere, "status"}).exit == 3);
    CHECK(ykctl({"status", "-s", kNowhere}).exit == 3);
    CHECK(ykctl({"node", "--socket=" + kNowhere, "list"}).exit == 3);
}

TEST_CASE("the address: option, else variable, else client file") {
    const auto reached = [](const Ran& ran) {
        const auto from = ran.err.find("ipc://");
        return ran.err.substr(from, ran.err.find(": no such", from) - from);
    };
    const ClientFile file{"socket: ipc:///nonexistent/file.sock\n"};
    auto variables = file.variables();
    CHECK(reached(run_with(variables, {"status"})) == "ipc:///nonexistent/file.sock");
    variables["YKCTL_SOCKET"] = "ipc:///nonexistent/variable.sock";
    CHECK(reached(run_with(variables, {"status"})) == "ipc:///nonexistent/variable.sock");
    CHECK(reached(run_with(variables, {"status", "-s", "ipc:///nonexistent/option.sock"})) ==
          "ipc:///nonexistent/option.sock");
}

TEST_CASE("wrong values name where they come from") {
    const ClientFile file{"output: json\nsockt: x\n"};
    CHECK(run_with(file.variables(), {"status"}).err ==
          "ykctl: " + file.path() + ":2:1: unknown key 'sockt'; did you mean 'socket'?\n");
    const ClientFile format{"\noutput: tabel\n"};
    CHECK(run_with(format.variables(), {"status"}).err ==
          "ykctl: " + format.path() +
              ":2:1: 'tabel' is not one of table, wide, json, jsonl, yaml, name; did you mean 'table'?\n");
    const auto ran = run_with({{"YKCTL_TIMEOUT", "soon"}}, {"status"});
    CHECK(ran.exit == 2);
    CHECK(ran.err.rfind("ykctl: YKCTL_TIMEOUT: ", 0) == 0);
    CHECK(ykctl({"status", "-s", "localhost"}).err.rfind("ykctl: 'localhost' is not the address of a daemon", 0) == 0);
    CHECK(ykctl({"status", "--token-file", "/nonexistent"}).exit == 2);
}

TEST_CASE("errors are JSON on standard error with -o json, by option or variable") {
    const auto ran = ykctl({"-o", "json", "status", "-s", kNowhere});
    CHECK(ran.exit == 3);
    CHECK(Value::parse(ran.err).at("error").at("name") == "UNREACHABLE");
    CHECK(Value::parse(run_with({{"YKCTL_OUTPUT", "json"}}, {"nod"}).err).at("error").at("name") == "USAGE");
    const ClientFile file("output: jsonl\n");
    CHECK(Value::parse(run_with(file.variables(), {"nod"}).err).at("error").at("name") == "USAGE");
    CHECK(run_with(file.variables(), {"-o", "table", "nod"}).err.rfind("ykctl: unknown command", 0) == 0);
}

TEST_CASE("--help of every command is its own help") {
    each_command(command_tree(), {}, [](const CommandInfo& command, const std::vector<std::string>& path) {
        auto arguments = path;
        arguments.emplace_back("--help");
        const auto ran = ykctl(arguments);
        std::string usage = "Usage: ykctl";
        for (const auto& name : path) usage += " " + name;
        INFO(usage);
        CHECK(ran.exit == 0);
        CHECK(ran.out.find(usage) != std::string::npos);
        for (const auto& option : command.options) CHECK(ran.out.find(option.names.back()) != std::string::npos);
        if (path.empty() || command.hidden) return;
        auto help = path;
        help.insert(help.begin(), "help");
        CHECK(ykctl(help).out == ran.out);
    });
}

TEST_CASE("every command has a help text, every command without commands does something") {
    each_command(command_tree(), {}, [](const CommandInfo& command, const std::vector<std::string>& path) {
        INFO((path.empty() ? std::string{"root"} : path.back()));
        CHECK_FALSE(command.help.empty());
        for (const auto& option : command.options) CHECK_FALSE(option.help.empty());
        for (const auto& positional : command.positionals) CHECK_FALSE(positional.help.empty());
        if (!command.commands.empty()) return;
        auto arguments = path;
        for (const auto& positional : command.positionals) {
            if (!positional.required) continue;
            const bool writes = positional.names.front() == "DIR"; // must leave nothing behind
            arguments.push_back(writes                       ? "/proc/nowhere"
                                : positional.choices.empty() ? "1s"
                                                             : positional.choices.front());
        }
        arguments.insert(arguments.end(), {"-s", kNowhere});
        CHECK(ykctl(arguments).err.find("needs a command") == std::string::npos);
    });
}

TEST_CASE("4.1 config view-client says what each setting is and where it comes from") {
    const ClientFile file("output: jsonl\nrm: a\npartition: p\n");
    auto variables = file.variables();
    variables["YKCTL_RM"] = "b";
    const auto ran = run_with(variables, {"-s", "ipc:///x", "--timeout", "2s", "config", "view-client"});
    CHECK(ran.exit == 0);
    CHECK(ran.out.find(R"({"name":"socket","value":"ipc:///x","source":"--socket"})") != std::string::npos);
    CHECK(ran.out.find(R"({"name":"rm","value":"b","source":"YKCTL_RM"})") != std::string::npos);
    CHECK(ran.out.find(R"("value":"p","source":")" + file.path() + ":3:1") != std::string::npos);
    CHECK(ran.out.find(R"({"name":"timeout","value":"2000ms","source":"--timeout"})") != std::string::npos);
    CHECK(ran.out.find(R"({"name":"color","value":"auto","source":"default"})") != std::string::npos);
}

TEST_CASE("help knows its topics") {
    CHECK(ykctl({"help", "exit-codes"}).out.rfind("Exit codes\n", 0) == 0);
    CHECK(ykctl({"help"}).out.find("Topics") != std::string::npos);
    const auto ran = ykctl({"help", "exit-code"});
    CHECK(ran.exit == 2);
    CHECK(ran.err.rfind("ykctl: no help on 'exit-code'; did you mean 'exit-codes'?", 0) == 0);
}

TEST_CASE("I-230 what recovery done claims is checked before ykd is asked") {
    const auto problem = [](std::vector<std::string> options) {
        options.insert(options.begin(), {"recovery", "done", "rm-1", "--id", "r1", "-s", kNowhere});
        const auto ran = ykctl(options);
        CHECK(ran.out.empty());
        return std::to_string(ran.exit) + " " + ran.err.substr(0, ran.err.find('\n'));
    };
    CHECK(problem({}) == "2 ykctl: recovery done: what does the RM have?");
    CHECK(problem({"--nodes", "1"}) == "2 ykctl: --nodes: the digest is missing; give --digest-nodes");
    CHECK(problem({"--digest-nodes", "1"}) == "2 ykctl: --digest-nodes: the digest of how many?  --nodes N");
    CHECK(problem({"--nodes", "1", "--digest-nodes", "0xg"}) ==
          "2 ykctl: --digest-nodes: '0xg' is neither a number below 2^64 nor 0x and up to 16 digits");
    CHECK(problem({"--nodes", "1", "--digest-nodes", "0x"}).rfind("2 ", 0) == 0);
    CHECK(problem({"--nodes", "1", "--digest-nodes", "18446744073709551616"}).rfind("2 ", 0) == 0);
    CHECK(problem({"--nodes=-1"}) == "2 ykctl: --nodes: not negative");
    CHECK(problem({"--asks=-1", "--nodes", "0"}) == "2 ykctl: --asks: not negative");
    CHECK(problem({"--attempt", "0", "--nodes", "0"}) == "2 ykctl: --attempt: from 1 (32 bits)");
    CHECK(problem({"--as-restored", "--nodes", "1"}).rfind("2 ykctl: either --as-restored or counts", 0) == 0);
    for (const std::vector<std::string>& good : std::vector<std::vector<std::string>>{
             {"--as-restored"},
             {"--as-restored", "--asks", "3"},
             {"--nodes", "0"},
             {"--allocations", "2", "--digest-allocations", "0xfade705232fafc03"},
             {"--applications", "2", "--digest-applications", "18446744073709551615"}})
        CHECK(problem(good).rfind("3 ", 0) == 0);
    CHECK(ykctl({"recovery", "done", "rm-1", "--nodes", "0"}).err.rfind("ykctl: --id is required", 0) == 0);
}

TEST_CASE("I-240 I-254 recovery list and resolve know their words") {
    CHECK(ykctl({"recovery", "list", "node", "-s", kNowhere}).err.find("did you mean 'nodes'?") != std::string::npos);
    CHECK(ykctl({"recovery", "list", "nodes", "rm-1", "--bucket", "256", "-s", kNowhere}).exit == 2);
    CHECK(ykctl({"recovery", "list", "nodes", "rm-1", "--bucket", "255", "-s", kNowhere}).exit == 3);
    CHECK(ykctl({"recovery", "resolve", "forget", "-s", kNowhere}).exit == 2);
    CHECK(ykctl({"recovery", "resolve", "accept", "rm-1", "-s", kNowhere}).exit == 3);
}

TEST_CASE("I-212 a registration begins a recovery") {
    CHECK(ykctl({"rm", "register", "demo", "--expect", "nodes=1", "-s", kNowhere}).exit == 2);
    CHECK(ykctl({"rm", "register", "demo", "--recovery", "r1", "--expect", "nodes=1", "-s", kNowhere}).exit == 3);
    CHECK(ykctl({"rm", "serve", "demo", "--recovery", "r1", "--recovery-idle", "1m", "-s", kNowhere}).exit == 3);
}

TEST_CASE("version --client needs no daemon") {
    CHECK(ykctl({"version", "--client"}).out == "ykctl 9.8.7\n");
    CHECK(Value::parse(ykctl({"version", "--client", "-o", "json"}).out) ==
          Value{{"schema", 1}, {"item", {{"client", "9.8.7"}}}});
    CHECK(ykctl({"version", "-s", kNowhere}).exit == 3);
}

TEST_CASE("B-06 config check works without a daemon") {
    const std::string good =
        "partitions:\n- name: default\n  queues:\n  - name: root\n    submitacl: \"*\"\n    queues:\n    - name: a\n";
    CHECK(ykctl({"config", "check", "-"}, good).out == "standard input: ok\n");
    CHECK(ykctl({"config", "validate", "-"}, good).exit == 0);
    const auto bad = ykctl({"config", "check", "-"}, good + "      sumbitacl: x\n");
    CHECK(bad.exit == 1);
    CHECK(bad.out.find("standard input:8:7: error: ") != std::string::npos);
    CHECK(bad.out.find("did you mean \"submitacl\"") != std::string::npos);
    const auto json = ykctl({"config", "check", "-", "-o", "json"}, good + "      sumbitacl: x\n");
    CHECK(Value::parse(json.out).at("items").at(0).at("line") == 8);
    CHECK(ykctl({"config", "check", "/nonexistent"}).exit == 2);
}

TEST_CASE("4.2 config check --strict: warnings are exit 8") {
    const std::string doubtful = "partitions:\n- name: default\n  queues:\n  - name: root\n    queues:\n    - name: a\n"
                                 "      properties: {no.such.property: x}\n";
    CHECK(ykctl({"config", "check", "-"}, doubtful).exit == 0);
    CHECK(ykctl({"config", "check", "--strict", "-"}, doubtful).exit == 8);
}

TEST_CASE("commands refuse what they cannot do before they look for a daemon") {
    const auto refused = [](std::vector<std::string> arguments, const std::string& input = {}) {
        arguments.insert(arguments.end(), {"-s", kNowhere});
        const auto ran = ykctl(arguments, input);
        CHECK(ran.exit == 2);
        return ran.err.substr(0, ran.err.find('\n'));
    };
    CHECK(refused({"node", "add", "n1"}) == "ykctl: node add: -R is needed");
    CHECK(refused({"node", "add", "-R", "vcore=1"}) == "ykctl: node add: NAME, or --name-format, or -f FILE is needed");
    CHECK(refused({"node", "add", "n", "-f", "-"}) == "ykctl: node add: either -f FILE or NAME with -R");
    CHECK(refused({"node", "add", "-f", "-"}, "# empty\n") == "ykctl: standard input: holds no node");
    CHECK(refused({"node", "add", "-f", "-"}, "nodeID: a\nnod: b\n").find(":2:1: unknown field 'nod'") !=
          std::string::npos);
    CHECK(refused({"node", "add", "n", "--count", "0", "-R", "vcore=1"}) == "ykctl: --count: at least 1");
    CHECK(refused({"ask", "add", "a"}) == "ykctl: ask add: -R is needed");
    CHECK(refused({"ask", "add", "a", "-R", "vcore=1", "--priority", "3000000000"}).find("out of range") !=
          std::string::npos);
    CHECK(refused({"alloc", "release"}) == "ykctl: alloc release: either KEY or --all");
    CHECK(refused({"alloc", "release", "--all"}) == "ykctl: alloc release --all: of which application?  --app APP");
    CHECK(refused({"dump", "everything"}).find("is not one of all, ") != std::string::npos);
    CHECK(refused({"rm", "register", "r", "--config", "-"}, "\n").find("is empty") != std::string::npos);
    CHECK(refused({"events", "--object", "thing/x"}).find("is not KIND/NAME") != std::string::npos);
    CHECK(refused({"replay"}).find("--nodes FILE and --pods FILE are needed") != std::string::npos);
    CHECK(refused({"replay", "--nodes", "a", "--pods", "b", "--speed", "0"}).find("--speed") != std::string::npos);
    CHECK(refused({"scenario", "run", "x.yaml", "-j", "0"}) == "ykctl: -j: 1 to 256");
}

TEST_CASE("a reader that has gone is an error, not a success") {
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    out.setstate(std::ios::badbit);
    CHECK(run(
              {"version", "--client"}, {in, out, err, false, false}, [](const std::string&) { return std::nullopt; },
              "1") == 1);
    CHECK(err.str() == "ykctl: cannot write to standard output\n");
}
