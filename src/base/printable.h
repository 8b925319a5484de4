// Text from outside: whether it is UTF-8, and whether it may go to a terminal.
//
// Steering characters are the controls U+0000–U+001F and U+007F–U+009F, which can steer a terminal,
// and the marks that turn the direction of text, which can show a name as another.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fairlead {

// Bytes of the character that `text` begins with; 0 if that is no UTF-8 (RFC 3629, section 4).
// Requires: text is not empty.
std::size_t utf8_length(std::string_view text);

// True if `text` is UTF-8 without steering characters.
bool is_printable(std::string_view text);

// Steering characters and bytes that are no UTF-8 as "\x1b".
std::string printable(std::string text);

}  // namespace fairlead
