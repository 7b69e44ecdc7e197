// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every measurement runs in a process of its own: peak RSS belongs to it alone, the heap is as fresh as the daemon's,
// and a crash costs one row. Results come back through shared memory.

#include <cstddef>
#include <functional>
#include <string>

#include "libcore/base/result.h"
#include "tests/bench/measure/measure.h"

namespace yk::bench {

/// Runs `body` in a child process. Empty: it returned; else how it ended.
[[nodiscard]] std::string in_child(const std::function<void()>& body);

/// Zeroed memory that children share with this process.
class SharedBytes {
public:
    explicit SharedBytes(std::size_t size);
    ~SharedBytes();
    SharedBytes(const SharedBytes&) = delete;
    SharedBytes& operator=(const SharedBytes&) = delete;
    [[nodiscard]] void* data() const { return data_; }

private:
    void* data_;
    std::size_t size_;
};

/// Trivial objects of one kind in shared memory.
template <class T>
class Shared {
public:
    explicit Shared(std::size_t count = 1) : bytes_(count * sizeof(T)) {}
    [[nodiscard]] T* data() const { return static_cast<T*>(bytes_.data()); }
    T* operator->() const { return data(); }
    T& operator*() const { return *data(); }
    T& operator[](std::size_t i) const { return data()[i]; }

private:
    SharedBytes bytes_;
};

/// One measurement in a child process. Error: how the child ended instead.
[[nodiscard]] Result<Sample> isolated(const std::string& name, const std::function<Sample()>& measure);

/// The same for a client of a daemon, whose measurement may fail; why stands on standard error then.
[[nodiscard]] Result<Sample> isolated_client(const std::function<Result<Sample>()>& measure);

} // namespace yk::bench
