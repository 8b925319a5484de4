// The frame of an HTML report: one self-contained page, light and dark by the reader's setting, no
// script and nothing fetched.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fairlead::sim {

using KeyValues = std::vector<std::pair<std::string, std::string>>;

class Page {
 public:
  Page(std::string title, std::string subtitle);

  // Large figures under the title: value and what it is.
  void figures(const KeyValues& values_and_labels);

  // Begins a section; `text` explains in a sentence or two how to read it.
  void section(const std::string& heading, const std::string& text);

  // Names of the colours used by the next chart: CSS class and label.
  void legend(const KeyValues& class_and_label);

  void chart(const std::string& svg);

  // First column left, the others right and in tabular numerals.
  void table(const std::vector<std::string>& header,
             const std::vector<std::vector<std::string>>& rows);

  // Two columns of text.
  void settings(const KeyValues& rows);

  std::string html() const;

 private:
  void close_section();
  std::string title_;
  std::string body_;
  bool open_ = false;
};

}  // namespace fairlead::sim
