// SPDX-License-Identifier: MIT
//
// memory_pipeline_dead_letters: dead letters of pipeline steps in memory, for tests.
//
//     waybill::testing::memory_pipeline_dead_letters dead_letters;
//     dead_letters.upsert(waybill::make_pipeline_dead_letter(...));
//     auto r = waybill::redrive_all(dead_letters, {}, send, env);
//     CHECK(dead_letters.letters().empty());
//
// It conforms to pipeline_dead_letter_conformance.hpp. Each call is logarithmic in the number of
// dead letters for each one that it changes.

#ifndef WAYBILL_TESTING_MEMORY_PIPELINE_DEAD_LETTERS_HPP
#define WAYBILL_TESTING_MEMORY_PIPELINE_DEAD_LETTERS_HPP

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <waybill/session/pipeline_dead_letter_store.hpp>

namespace waybill::inline v0_2::testing {

class memory_pipeline_dead_letters {
    using key = std::pair<std::string, std::uint64_t>;

public:
    [[nodiscard]] result<std::vector<pipeline_dead_letter>> list() const
    {
        std::vector<pipeline_dead_letter> all;
        all.reserve(letters_.size());
        for (const auto& [at, letter] : letters_) all.push_back(letter);
        return all;
    }

    fault upsert(const pipeline_dead_letter& letter)
    {
        const auto [row, inserted] = letters_.try_emplace(key_of(letter), letter);
        if (!inserted) row->second = pipeline_dead_letter::merged(row->second, letter);
        return {};
    }

    fault mark(std::span<const pipeline_dead_letter> letters)
    {
        for (const pipeline_dead_letter& l : letters) {
            const auto row = letters_.find(key_of(l));
            if (row == letters_.end()) continue;
            row->second = pipeline_dead_letter::with_mark(std::move(row->second), l);
        }
        return {};
    }

    fault remove(std::span<const pipeline_dead_letter> letters)
    {
        for (const pipeline_dead_letter& l : letters) letters_.erase(key_of(l));
        return {};
    }

    /// All dead letters by session and sequence.
    [[nodiscard]] const std::map<key, pipeline_dead_letter>& letters() const noexcept
    {
        return letters_;
    }

    friend bool operator==(const memory_pipeline_dead_letters&,
                           const memory_pipeline_dead_letters&) = default;

private:
    [[nodiscard]] static key key_of(const pipeline_dead_letter& l)
    {
        return {l.properties.session, l.sequence};
    }

    std::map<key, pipeline_dead_letter> letters_;
};

static_assert(pipeline_dead_letter_store<memory_pipeline_dead_letters>);

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_MEMORY_PIPELINE_DEAD_LETTERS_HPP
