// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/page_writer.h"

#include <ostream>
#include <utility>

namespace yk::cli {

using wire::Value;

PageWriter::PageWriter(std::ostream& out, ListLayout layout, Format format, Style style)
    : out_(out), layout_(std::move(layout)), format_(format), style_(style) {}

void PageWriter::add(std::vector<Value> page) {
    if (page.empty()) return;
    const bool is_open = list_ || table_;
    if (!is_open && !first_) {
        first_ = std::move(page);
        return;
    }
    if (!is_open) write(*std::exchange(first_, std::nullopt));
    write(page);
}

void PageWriter::finish() {
    if (list_)
        list_->finish();
    else if (!table_)
        out_ << list_text(first_.value_or(std::vector<Value>{}), layout_, format_, style_);
}

void PageWriter::write(const std::vector<Value>& page) {
    if (format_ == Format::Table || format_ == Format::Wide) {
        write_rows(page);
    } else {
        if (!list_) list_.emplace(out_, format_, layout_.name);
        for (const Value& item : page) list_->add(item);
    }
    out_.flush();
}

void PageWriter::write_rows(const std::vector<Value>& page) {
    const bool first = !table_;
    if (first) {
        std::vector<Heading> headings;
        for (const Column& column : layout_.columns) {
            if (column.wide && format_ != Format::Wide && !column.when_varied && !column.when_filled) continue;
            shown_.push_back(&column);
            headings.push_back(column.heading);
        }
        table_.emplace(std::move(headings));
    }
    for (const Value& item : page) {
        std::vector<std::string> cells;
        cells.reserve(shown_.size());
        for (const Column* column : shown_) cells.push_back(column->cell(item));
        table_->add(std::move(cells));
    }
    out_ << (first ? table_->text(style_, layout_.headers) : table_->more_text());
    table_->clear();
}

} // namespace yk::cli
