// SPDX-License-Identifier: Apache-2.0
#pragma once
// Result<T>: a value or an Error. Errors are values; no exception crosses a layer.

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "libcore/base/check.h"

namespace yk {

/// What went wrong. `code` is a code of the layer that raised it (0: none more precise than the message), `where` is
/// a path in the input (`asks[3].allocationKey`) or `file:line:column`; empty when the whole input is meant.
struct Error {
    int code = 0;
    std::string message;
    std::string where;

    // Makers, so that no member is set by its position.
    [[nodiscard]] static Error of(std::string message) { return {0, std::move(message), {}}; }
    [[nodiscard]] static Error at(std::string where, std::string message) {
        return {0, std::move(message), std::move(where)};
    }
    [[nodiscard]] static Error coded(int code, std::string message, std::string where = {}) {
        return {code, std::move(message), std::move(where)};
    }

    /// `where: message`, or just the message.
    [[nodiscard]] std::string text() const { return where.empty() ? message : where + ": " + message; }
};

/// A value or an error; `E` is Error unless a layer has more to say about its failures.
template <class T, class E = Error>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(E error) : state_(std::in_place_index<1>, std::move(error)) {}

    [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return ok(); }

    [[nodiscard]] T& value() & {
        YK_ASSUME(ok(), "an error has no value");
        return std::get<0>(state_);
    }
    [[nodiscard]] const T& value() const& {
        YK_ASSUME(ok(), "an error has no value");
        return std::get<0>(state_);
    }
    [[nodiscard]] T&& value() && {
        YK_ASSUME(ok(), "an error has no value");
        return std::get<0>(std::move(state_));
    }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    [[nodiscard]] const E& error() const& {
        YK_ASSUME(!ok(), "a value is no error");
        return std::get<1>(state_);
    }
    [[nodiscard]] E&& error() && {
        YK_ASSUME(!ok(), "a value is no error");
        return std::get<1>(std::move(state_));
    }

private:
    std::variant<T, E> state_;
};

template <class E>
class [[nodiscard]] Result<void, E> {
public:
    Result() = default;
    Result(E error) : error_(std::move(error)) {}

    [[nodiscard]] bool ok() const noexcept { return !error_.has_value(); }
    explicit operator bool() const noexcept { return ok(); }
    [[nodiscard]] const E& error() const& {
        YK_ASSUME(!ok(), "success is no error");
        return *error_;
    }
    [[nodiscard]] E&& error() && {
        YK_ASSUME(!ok(), "success is no error");
        return *std::move(error_);
    }

private:
    std::optional<E> error_;
};

} // namespace yk

#define YK_CONCAT_INNER(a, b) a##b
#define YK_CONCAT(a, b) YK_CONCAT_INNER(a, b)

/// Declares `name` with the value of `expr`, or returns its error from the enclosing function.
#define YK_TRY(name, expr)                                                                                             \
    auto YK_CONCAT(yk_result_, __LINE__) = (expr);                                                                     \
    if (!YK_CONCAT(yk_result_, __LINE__).ok()) return std::move(YK_CONCAT(yk_result_, __LINE__)).error();              \
    auto name = std::move(YK_CONCAT(yk_result_, __LINE__)).value()

/// Returns the error of the Result<void> `expr` from the enclosing function, if there is one.
#define YK_CHECKED(expr)                                                                                               \
    do {                                                                                                               \
        auto yk_checked = (expr);                                                                                      \
        if (!yk_checked.ok()) return std::move(yk_checked).error();                                                    \
    } while (false)
