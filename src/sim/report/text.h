// Numbers as a person reads them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead::sim {

std::string fixed(double value, int decimals);   // "3.14"
std::string grouped(double value);               // "12,345", rounded
std::string duration_words(double seconds);      // "0 s", "48 s", "12.5 min", "3.4 h", "2.1 d"
std::string escape_html(std::string_view text);  // & < > " '

}  // namespace fairlead::sim
