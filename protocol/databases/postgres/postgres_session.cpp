// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/postgres/postgres_session.h"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "libcore/base/number.h"
#include "protocol/databases/postgres/postgres_errors.h"
#include "protocol/simulation/steady_clock.h"

namespace yk::rs {
namespace {

Instant now() {
    return Instant{SteadyClock::now().time_since_epoch().count()};
}

std::string in_seconds(Duration time) {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) + " ms";
}

StoreError error_of(const PGresult* result) {
    const char* const state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char* const message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    return {fault_of(state == nullptr ? "" : state),
            one_line(message == nullptr ? PQresultErrorMessage(result) : message)};
}

bool is_error(const PGresult* result) {
    const ExecStatusType status = PQresultStatus(result);
    return status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY;
}

using Parts = std::map<std::string, std::string, std::less<>>;

/// The parts of an address by their names; nullopt: it cannot be understood. What libpq says of such a one may have a
/// part of the password in it, as a host or a port.
std::optional<Parts> parts_of(const std::string& url) {
    char* why = nullptr;
    const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> options{PQconninfoParse(url.c_str(), &why),
                                                                                 PQconninfoFree};
    PQfreemem(why);
    if (!options) return std::nullopt;
    Parts parts;
    for (const PQconninfoOption* each = options.get(); each->keyword != nullptr; ++each)
        if (each->val != nullptr) parts.emplace(each->keyword, each->val);
    const std::string &host = parts["host"], &port = parts["port"];
    const bool is_good =
        port.find_first_not_of("0123456789,") == std::string::npos && host.find('@', 1) == std::string::npos;
    return is_good ? std::optional{std::move(parts)} : std::nullopt;
}

std::string part_of(const Parts& parts, const char* name) {
    const auto found = parts.find(name);
    return found == parts.end() ? std::string{} : found->second;
}

/// Of a part that may stand for several servers, with commas.
std::vector<std::string> list_of(const Parts& parts, const char* name) {
    std::vector<std::string> list;
    const std::string part = part_of(parts, name);
    for (std::size_t at = 0, end = 0; !part.empty() && end != std::string::npos; at = end + 1) {
        end = part.find(',', at);
        list.push_back(part.substr(at, end - at));
    }
    return list;
}

/// One of the servers of an address; empty parts are as the address has them.
struct ServerPlace {
    std::string host, address, port;
};

/// The servers of an address that names several; else one without parts of its own. libpq tries several by itself, too,
/// but stays with one that hangs, as it knows no limit for each when it is not to block.
std::vector<ServerPlace> places_of(const Parts& parts) {
    const auto hosts = list_of(parts, "host"), addresses = list_of(parts, "hostaddr"), ports = list_of(parts, "port");
    const std::size_t count = std::max(hosts.size(), addresses.size());
    if (count < 2) return {{}};
    std::vector<ServerPlace> places(count);
    for (const auto& [list, part] :
         {std::pair{&hosts, &ServerPlace::host}, std::pair{&addresses, &ServerPlace::address},
          std::pair{&ports, &ServerPlace::port}}) {
        const bool is_for_all = list->size() <= 1 && part == &ServerPlace::port;
        if (is_for_all || list->empty()) continue;
        if (list->size() != count || std::find(list->begin(), list->end(), "") != list->end())
            return {{}}; // libpq knows what is wrong with it, or takes the default
        for (std::size_t at = 0; at < count; ++at) places[at].*part = (*list)[at];
    }
    return places;
}

/// What the url says of keepalives counts before what stands here, but not what the session relies on. Of several
/// servers the one is wanted that may be written, unless the url says something else.
pg_conn* begin(const std::string& url, const ServerPlace& place) {
    constexpr int kExpandUrl = 1;
    const bool is_of_several = !place.host.empty() || !place.address.empty();
    const std::vector<std::pair<const char*, const char*>> all{
        {"keepalives_idle", "10"},
        {"keepalives_interval", "5"},
        {"keepalives_count", "3"},
        {"tcp_user_timeout", "12000"},
        {"target_session_attrs", is_of_several ? "read-write" : "any"},
        {"dbname", url.c_str()},
        {"host", place.host.c_str()},
        {"hostaddr", place.address.c_str()},
        {"port", place.port.c_str()},
        {"fallback_application_name", "ykd"},
        {"client_encoding", "UTF8"},
        {nullptr, nullptr},
    };
    std::vector<const char*> names, values;
    for (const auto& [name, value] : all) {
        names.push_back(name);
        values.push_back(value);
    }
    return PQconnectStartParams(names.data(), values.data(), kExpandUrl);
}

} // namespace

void PostgresResult::clear(pg_result* result) {
    PQclear(result);
}

int PostgresResult::rows() const {
    return PQntuples(result_.get());
}

std::int64_t PostgresResult::changes() const {
    return to_number<std::int64_t>(PQcmdTuples(result_.get())).value_or(0);
}

std::int64_t PostgresResult::number(int row, int column) const {
    const std::string_view value = PQgetvalue(result_.get(), row, column);
    return value == "t" ? 1 : to_number<std::int64_t>(value).value_or(0);
}

std::string_view PostgresResult::view(int row, int column) const {
    return {PQgetvalue(result_.get(), row, column), static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

std::string shown_address(const std::string& url) {
    const auto parts = parts_of(url);
    if (!parts) return "postgresql://";
    const std::string port = part_of(*parts, "port");
    return "postgresql://" + part_of(*parts, "host") + (port.empty() ? "" : ":" + port) + "/" +
           part_of(*parts, "dbname");
}

Result<std::unique_ptr<PostgresSession>, StoreError> PostgresSession::open(const PostgresSettings& settings,
                                                                           const Check& check) {
    const auto parts = parts_of(settings.url);
    if (!parts)
        return StoreError{StoreFault::Fatal,
                          "the address cannot be understood; postgresql://USER@HOST:PORT/DATABASE is "
                          "wanted, where a password has %40 for @, %2F for /, %3A for : and %25 for %"};
    const std::vector<ServerPlace> places = places_of(*parts);
    const Duration limit = settings.connect_limit / places.size();
    StoreError fault{StoreFault::Fatal, {}};
    for (const ServerPlace& place : places) {
        std::unique_ptr<PostgresSession> session{
            new PostgresSession(begin(settings.url, place), settings.answer_limit)};
        if (session->connection_ == nullptr) return StoreError{StoreFault::Down, "no memory for a session"};
        auto done = session->connect(limit);
        if (done.ok() && check) done = check(*session);
        if (done.ok()) return session;
        if (places.size() == 1) return done.error();
        if (done.error().fault != StoreFault::Fatal) fault.fault = StoreFault::Down;
        fault.message += (fault.message.empty() ? "" : "; ") + (place.host.empty() ? place.address : place.host) +
                         ": " + done.error().message;
    }
    return fault;
}

Result<void, StoreError> PostgresSession::connect(Duration limit) {
    const Instant deadline = now() + limit;
    if (PQstatus(connection_) == CONNECTION_BAD) return lose(PQerrorMessage(connection_));
    for (auto next = PGRES_POLLING_WRITING; next != PGRES_POLLING_OK; next = PQconnectPoll(connection_)) {
        if (next == PGRES_POLLING_FAILED) return lose(PQerrorMessage(connection_));
        if (!wait_until(next == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline))
            return lose("the server does not let anybody in within " + in_seconds(limit));
    }
    PQsetnonblocking(connection_, 1);
    PQsetNoticeReceiver(
        connection_, [](void*, const PGresult*) {}, nullptr); // they would go to stderr
    return {};
}

PostgresSession::Answer PostgresSession::query(const std::string& sql) {
    return answer(is_open() ? PQsendQuery(connection_, sql.c_str()) : 0);
}

PostgresSession::Answer PostgresSession::prepare(const std::string& name, const std::string& sql) {
    return answer(is_open() ? PQsendPrepare(connection_, name.c_str(), sql.c_str(), 0, nullptr) : 0);
}

PostgresSession::Answer PostgresSession::execute(const std::string& name, const Parameters& parameters) {
    std::vector<const char*> values;
    values.reserve(parameters.size());
    for (const auto& each : parameters) {
        if (each && each->find('\0') != std::string::npos)
            return StoreError{StoreFault::Fatal, "PostgreSQL stores no text with a zero byte"};
        values.push_back(each ? each->c_str() : nullptr);
    }
    const auto count = static_cast<int>(values.size());
    return answer(is_open() ? PQsendQueryPrepared(connection_, name.c_str(), count, values.data(), nullptr, nullptr, 0)
                            : 0);
}

/// The session is of no use after an answer that did not come: what comes later would be taken for the next one.
PostgresSession::Answer PostgresSession::answer(int is_sent) {
    if (!is_open()) return StoreError{StoreFault::Down, "there is no session"};
    if (is_sent == 0) return lose(PQerrorMessage(connection_));
    const Instant deadline = now() + limit_;
    YK_CHECKED(flush(deadline));
    PostgresResult last{nullptr};
    std::optional<StoreError> error;
    for (;;) {
        YK_TRY(result, next_result(deadline));
        if (result == nullptr) break;
        PostgresResult each{result};
        if (is_error(result) && !error) error = error_of(result);
        last = std::move(each);
    }
    if (PQstatus(connection_) == CONNECTION_BAD) return lose(error ? error->message : PQerrorMessage(connection_));
    if (!error) return last;
    if (error->fault == StoreFault::Down) return lose(error->message);
    return *std::move(error);
}

Result<void, StoreError> PostgresSession::flush(Instant deadline) {
    for (int left = PQflush(connection_); left != 0; left = PQflush(connection_)) {
        if (left < 0) return lose(PQerrorMessage(connection_));
        if (!wait_until(POLLIN | POLLOUT, deadline)) return lose("no answer within " + in_seconds(limit_));
        if (PQconsumeInput(connection_) == 0) return lose(PQerrorMessage(connection_));
    }
    return {};
}

Result<pg_result*, StoreError> PostgresSession::next_result(Instant deadline) {
    while (PQisBusy(connection_) != 0) {
        if (!wait_until(POLLIN, deadline)) return lose("no answer within " + in_seconds(limit_));
        if (PQconsumeInput(connection_) == 0) return lose(PQerrorMessage(connection_));
    }
    return PQgetResult(connection_);
}

bool PostgresSession::wait_until(short events, Instant deadline) const {
    ::pollfd socket{PQsocket(connection_), events, 0};
    for (;;) {
        const Duration left = deadline - now();
        if (left <= Duration{}) return false;
        const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1;
        const int ready = ::poll(&socket, 1, static_cast<int>(std::min<std::int64_t>(milliseconds, 60'000)));
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) return true; // libpq says what is wrong
    }
}

/// What the server said at last and that it is gone come one after the other, so that one look does not see both.
bool PostgresSession::check() {
    for (int looks = 0; is_open() && looks < 4; ++looks) {
        ::pollfd socket{PQsocket(connection_), POLLIN, 0};
        if (::poll(&socket, 1, 0) <= 0) break;
        if (PQconsumeInput(connection_) == 0 || PQstatus(connection_) == CONNECTION_BAD) close();
    }
    return is_open();
}

bool PostgresSession::is_in_transaction() const {
    if (!is_open()) return false;
    const PGTransactionStatusType status = PQtransactionStatus(connection_);
    return status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
}

bool PostgresSession::has_failed_transaction() const {
    return is_open() && PQtransactionStatus(connection_) == PQTRANS_INERROR;
}

int PostgresSession::version() const {
    return is_open() ? PQserverVersion(connection_) : 0;
}

int PostgresSession::socket() const {
    return is_open() ? PQsocket(connection_) : -1;
}

bool PostgresSession::take_notifications() {
    bool has_any = false;
    if (!check()) return false;
    while (PGnotify* const each = PQnotifies(connection_)) {
        PQfreemem(each);
        has_any = true;
    }
    return has_any;
}

void PostgresSession::wait(Duration limit) {
    if (is_open()) static_cast<void>(wait_until(POLLIN, now() + limit));
}

StoreError PostgresSession::lose(const std::string& why) {
    StoreError error{StoreFault::Down, one_line(why)};
    close();
    return error;
}

void PostgresSession::close() {
    PQfinish(std::exchange(connection_, nullptr));
}

} // namespace yk::rs
