// SPDX-License-Identifier: MIT

#include "known.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../support/program.hpp"
#include "destination.hpp"
#include <waybill/ext/json.hpp>

namespace send_batches {

namespace {

namespace fs = std::filesystem;

/// The new content is written to this file first. After an interruption the old file is unchanged.
std::string beside(const std::string& file)
{
    return file + ".new";
}

/// The target of a symbolic link, or the file itself.
std::string itself(const std::string& file)
{
    std::error_code e;
    const bool link = fs::is_symlink(file, e) && fs::exists(file, e);
    return link ? fs::canonical(file).string() : file;
}

}  // namespace

void expect_known(const options& o, const std::string& input)
{
    if (o.calibration.empty()) return;
    std::error_code e;
    if (fs::exists(o.calibration, e) && !fs::is_regular_file(o.calibration, e)) {
        throw complaint(fmt::format(
            "the calibration cannot be written to {}: it is no regular file", o.calibration));
    }
    for (const std::string& file : {o.calibration, beside(itself(o.calibration))}) {
        support::expect_file("calibration", file,
                             {{"the input", input}, {"the queue", queue_file(o)}});
    }
}

waybill::calibration known_from(const std::string& file)
{
    if (file.empty() || !fs::exists(file)) return {};
    std::ifstream in(file, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    if (!in) throw complaint(fmt::format("the calibration cannot be read from {}", file));
    const auto known = waybill::parse_json<waybill::calibration>(text);
    if (!known) throw complaint(fmt::format("{}: {}", file, waybill::describe(known.error())));
    return *known;
}

waybill::calibration or_guess(const waybill::calibration& known,
                              const waybill::batch_limits& limits)
{
    waybill::calibration c = known.for_limits(limits);
    if (known == waybill::calibration()) c.envelope = limits.envelope;
    if (c.limit == waybill::unlimited) c.limit = c.ceiling = first_guess;
    return c;
}

bool is_guess(const waybill::calibration& c)
{
    return c.documented == waybill::unlimited && c.limit == first_guess;
}

void keep(const std::string& file, const waybill::calibration& learnt)
{
    if (file.empty()) return;
    const std::string to = itself(file);
    std::error_code failed;
    try {
        support::write_file("calibration", beside(to), nlohmann::json(learnt).dump(2) + '\n');
        fs::rename(beside(to), to, failed);
        if (failed) {
            throw complaint(
                fmt::format("the calibration cannot be written to {}: {}", file, failed.message()));
        }
    } catch (const complaint&) {
        fs::remove(beside(to), failed);
        throw;
    }
}

}  // namespace send_batches
