// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shared<T>: a value that never changes, in 8 bytes; its copies are the same value, kept once. For fields of objects
// that exist a million times, most of which have the same value there. It is used as a `const T`: by `*` and `->`, and
// where a `const T&` is wanted. Another value is assigned as a whole.
//
// Any thread: copies may be made and destroyed at the same time. An object of this type is as safe as an int.

#include <atomic>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace yk {

template <class T>
class Shared {
public:
    /// T{}, for which nothing is kept.
    Shared() noexcept = default;
    explicit Shared(T value) : kept_(new Kept{std::move(value), {1}}) {}
    Shared(const Shared& other) noexcept : kept_(other.kept_) {
        if (kept_ != nullptr) kept_->owners.fetch_add(1, std::memory_order_relaxed);
    }
    Shared(Shared&& other) noexcept : kept_(std::exchange(other.kept_, nullptr)) {}
    ~Shared() {
        if (kept_ != nullptr && kept_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete kept_;
    }
    Shared& operator=(const Shared& other) noexcept {
        if (this != &other) Shared{other}.swap(*this);
        return *this;
    }
    Shared& operator=(Shared&& other) noexcept {
        Shared{std::move(other)}.swap(*this);
        return *this;
    }
    Shared& operator=(T value) {
        Shared{std::move(value)}.swap(*this);
        return *this;
    }

    [[nodiscard]] const T& operator*() const noexcept {
        static const T kNothing{};
        return kept_ == nullptr ? kNothing : kept_->value;
    }
    [[nodiscard]] const T* operator->() const noexcept { return &**this; }
    operator const T&() const noexcept { return **this; } // NOLINT(google-explicit-constructor): it stands for a T

    /// Values that are equal, whether they are kept once or twice.
    friend bool operator==(const Shared& a, const Shared& b) { return a.kept_ == b.kept_ || *a == *b; }
    template <class Value>
    friend bool operator==(const Shared& a, const Value& b) requires(!std::is_same_v<Value, Shared> &&
                                                                     std::is_convertible_v<const Value&, const T&>) {
        return *a == b;
    }

private:
    struct Kept {
        const T value;
        std::atomic<std::uint32_t> owners;
    };

    void swap(Shared& other) noexcept { std::swap(kept_, other.kept_); }

    Kept* kept_ = nullptr;
};

} // namespace yk
