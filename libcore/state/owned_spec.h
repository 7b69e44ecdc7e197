// SPDX-License-Identifier: Apache-2.0
#pragma once
// OwnedSpec: a command of the core that outlives the message it was made from: with its texts in one block of memory.
// Owner: whoever keeps it. It can be moved, but not copied.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>

#include "libcore/ports/command.h"

namespace yk {

// Calls `text(std::string_view&)` for each text of a command.
template <class Text>
void each_text(Quantities& quantities, Text&& text) {
    for (Quantity& quantity : quantities) text(quantity.name);
}
template <class Text>
void each_text(Tags& tags, Text&& text) {
    for (Tag& tag : tags) {
        text(tag.key);
        text(tag.value);
    }
}
template <class Text>
void each_text(AskSpec& spec, Text&& text) {
    for (std::string_view* each : {&spec.partition, &spec.application, &spec.key, &spec.task_group, &spec.node})
        text(*each);
    each_text(spec.resource, text);
    each_text(spec.tags, text);
    for (DevicesSpec& each : spec.devices) text(each.name);
}
template <class Text>
void each_text(ApplicationSpec& spec, Text&& text) {
    for (std::string_view* each :
         {&spec.partition, &spec.id, &spec.queue, &spec.user, &spec.user_fault, &spec.gang_style})
        text(*each);
    for (std::string_view& group : spec.groups) text(group);
    each_text(spec.tags, text);
    if (spec.queue_tags.max) each_text(*spec.queue_tags.max, text);
    if (spec.queue_tags.guaranteed) each_text(*spec.queue_tags.guaranteed, text);
    each_text(spec.placeholder_ask, text);
}

template <class Spec>
class OwnedSpec {
public:
    explicit OwnedSpec(const Spec& spec) : spec_(spec) {
        each_text(spec_, [this](const std::string_view& text) { size_ += text.size(); });
        texts_ = std::make_unique<char[]>(size_);
        char* at = texts_.get();
        each_text(spec_, [&at](std::string_view& text) {
            const std::size_t size = text.size();
            char* const end = std::copy(text.begin(), text.end(), at);
            text = {at, size};
            at = end;
        });
    }

    [[nodiscard]] const Spec& operator*() const noexcept { return spec_; }
    [[nodiscard]] const Spec* operator->() const noexcept { return &spec_; }
    /// The bytes of its texts.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    Spec spec_;
    std::size_t size_ = 0;
    std::unique_ptr<char[]> texts_;
};

} // namespace yk
