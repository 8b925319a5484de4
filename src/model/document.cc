#include "model/document.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/printable.h"
#include "model/document_builder.h"

namespace fairlead {
namespace {

bool plain_key(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

// In quotes, printable, cut between characters when long.
std::string shown(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (out.size() > kShown && (byte & 0xC0) != 0x80) {
      out += "…";
      break;
    }
    out += c;
  }
  return printable(out + "\"");
}

// Line of the first byte that is not UTF-8 or is NUL; 0 if there is none.
int bad_utf8_line(std::string_view text) {
  int line = 1;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0 || text.front() == '\0') return line;
    if (text.front() == '\n') ++line;
    text.remove_prefix(length);
  }
  return 0;
}

// `{"`, `{}` and lists that begin with them: JSON. Flow style with bare keys is YAML.
bool looks_like_json(std::string_view text, std::string_view file) {
  std::size_t i = text.find_first_not_of(" \t\r\n[");
  if (i == std::string_view::npos) return false;
  if (text[i] != '{') return file.ends_with(".json") && (text[i] != '-' && text[i] != '#');
  i = text.find_first_not_of(" \t\r\n", i + 1);
  return i == std::string_view::npos || text[i] == '"' || text[i] == '}' || file.ends_with(".json");
}

}  // namespace

const Value* Value::find(std::string_view key) const {
  if (kind_ != ValueKind::kMap) return nullptr;
  for (const Value& member : items_) {
    if (member.key_ == key) return &member;
  }
  return nullptr;
}

std::string Value::path() const {
  if (parent_ == nullptr) return {};
  std::string out = parent_->path();
  if (parent_->is_list()) {
    return out + "[" + std::to_string(this - parent_->items_.data()) + "]";
  }
  if (!plain_key(key_)) return out + "[" + shown(key_) + "]";
  return out.empty() ? key_ : out + "." + key_;
}

std::string Value::brief() const {
  switch (kind_) {
    case ValueKind::kNull:
      return "nothing";
    case ValueKind::kList:
      return "a list";
    case ValueKind::kMap:
      return "a map";
    case ValueKind::kScalar:
      break;
  }
  return shown(text_);
}

void Value::link(const Value* parent) {
  parent_ = parent;
  for (Value& item : items_) item.link(this);
}

Value Value::clone() const {
  Value copy;
  copy.text_ = text_;
  copy.key_ = key_;
  copy.line_ = line_;
  copy.kind_ = kind_;
  copy.quoted_ = quoted_;
  copy.quoted_key_ = quoted_key_;
  copy.items_.reserve(items_.size());
  for (const Value& item : items_) copy.items_.push_back(item.clone());
  return copy;
}

std::expected<Document, std::vector<Error>> Document::parse(std::string_view text, std::string file,
                                                            DocumentLimits limits) {
  const auto refused = [&](int line, ErrorCode code, std::string message, std::string cure) {
    return std::unexpected(std::vector<Error>{
        Error{code, std::move(message), file + ":" + std::to_string(line), {}, std::move(cure)}});
  };
  if (text.size() > limits.bytes) {
    return refused(1, ErrorCode::kOutOfRange,
                   "the document has " + std::to_string(text.size()) + " bytes, allowed are " +
                       std::to_string(limits.bytes),
                   "split it");
  }
  if (const int line = bad_utf8_line(text); line != 0) {
    return refused(line, ErrorCode::kInvalidArgument, "the text is not UTF-8", "save it as UTF-8");
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);

  DocumentBuilder builder(limits);
  const bool json = looks_like_json(text, file);
  std::vector<Value> roots;
  std::vector<DocumentProblem> problems =
      json ? read_json(text, builder, roots) : read_yaml(text, builder, roots);
  if (!problems.empty()) {
    std::vector<Error> errors;
    for (DocumentProblem& problem : problems) {
      errors.push_back(Error{problem.code, printable(std::move(problem.message)),
                             file + ":" + std::to_string(problem.line),
                             printable(std::move(problem.field)), std::move(problem.cure)});
    }
    return std::unexpected(std::move(errors));
  }
  Document document;
  document.file_ = std::move(file);
  document.roots_ = std::move(roots);
  return document;
}

std::string document_name(const std::string& path) {
  return path == "-" ? "<stdin>" : path;
}

Result<std::string> read_document_file(const std::string& path, std::size_t bytes) {
  const auto failed = [&](ErrorCode code, std::string message) {
    return fail(Error{code, std::move(message), document_name(path), {}, {}});
  };
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> owned(nullptr, &std::fclose);
  std::FILE* in = stdin;
  if (path != "-") {
    owned.reset(std::fopen(path.c_str(), "rb"));
    if (!owned) {
      return failed(ErrorCode::kIo, std::string("cannot be opened: ") + std::strerror(errno));
    }
    in = owned.get();
  }
  std::string text;
  std::vector<char> block(std::size_t{64} << 10);
  while (const std::size_t n = std::fread(block.data(), 1, block.size(), in)) {
    if (text.size() + n > bytes) {
      return failed(ErrorCode::kOutOfRange,
                    "the file has more than " + std::to_string(bytes) + " bytes");
    }
    text.append(block.data(), n);
  }
  if (std::ferror(in) != 0) {
    return failed(ErrorCode::kIo, std::string("cannot be read: ") + std::strerror(errno));
  }
  return text;
}

}  // namespace fairlead
