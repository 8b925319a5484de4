// A task's output as the text that is sent: lines that may begin with their time, and remarks where
// bytes are missing.
//
// A chunk is not a line: the time before a line is that of the chunk in which it begins. Output and
// error output are one text, in the order in which they came.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/output_log.h"

namespace fairlead::api {

class LogText {
 public:
  // What lies before `begin` was not asked for, so that nothing is said of it. `limit`: bytes of
  // text in all. `offsets`: each line of output begins with the offset of its first byte, so that a
  // reader who lost the connection can go on there; remarks of ours begin with "-".
  LogText(std::int64_t begin, bool timestamps, std::optional<std::int64_t> limit,
          bool offsets = false)
      : expected_(begin), timestamps_(timestamps), offsets_(offsets), left_(limit) {}

  // Pages come in their order.
  std::string text_of(const engine::OutputPage& page);
  // A line of ours: "[fairlead: WORDS]".
  std::string remark(std::string_view words);

  bool full() const { return left_ && *left_ == 0; }

 private:
  void add_gap(std::int64_t next);
  void add_remark(std::string_view words);
  void add_output(const engine::OutputChunk& chunk);
  std::string taken();

  std::int64_t expected_;
  const bool timestamps_;
  const bool offsets_;
  std::optional<std::int64_t> left_;
  bool at_line_begin_ = true;
  std::string text_;
};

}  // namespace fairlead::api
