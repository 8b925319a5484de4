// A document as it stands in a file: YAML or JSON text as a tree in which everything knows its
// line.
//
// The readers of clusters, workloads, scenarios and share files are built on it:
//
//   auto document = Document::parse(text, "cluster.yaml");      // syntax, size, duplicate keys
//   if (!document) return print(document.error());
//   Findings findings(document->file());                        // findings.h: collects ALL errors
//   for (const Value& root : document->roots()) {               // one per "---" part
//     ObjectReader in(root, findings);                          // object_reader.h: typed fields
//     spec.name = in.name("name", kRequired).value_or("");
//   }                                                           // unknown fields are refused here
//   if (!findings.ok()) return std::unexpected(findings.take_errors());
//
// Numbers are not converted here: a scalar is the text as written, so that "0.3" and a number of
// any size are read exactly by who knows the unit. Anchors, aliases and merge keys ("<<") are
// expanded while reading. A Value lives as long as its Document and never moves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead {

enum class ValueKind : std::uint8_t { kNull, kScalar, kList, kMap };

class Value {
 public:
  Value() = default;
  Value(Value&&) noexcept = default;
  Value& operator=(Value&&) noexcept = default;

  ValueKind kind() const { return kind_; }
  bool is_null() const { return kind_ == ValueKind::kNull; }
  bool is_scalar() const { return kind_ == ValueKind::kScalar; }
  bool is_list() const { return kind_ == ValueKind::kList; }
  bool is_map() const { return kind_ == ValueKind::kMap; }

  // Line of the file, from 1. Of a value in a map it is the line of its key.
  int line() const { return line_; }

  // A scalar's text as written, quotes and escapes resolved; empty for all else.
  const std::string& text() const { return text_; }
  // A string in quotes (or a block scalar): it means text even if it looks like a number.
  bool quoted() const { return quoted_; }

  // The items of a list, or the values of a map in the order of the file; empty for all else.
  std::span<const Value> items() const { return items_; }
  // Under which key it stands, if it stands in a map.
  const std::string& key() const { return key_; }
  // The value under a key of a map; nullptr if there is none. Cost: linear.
  const Value* find(std::string_view key) const;

  // Where it stands in its document: "workloads[2].roles[0].min"; empty for a root.
  std::string path() const;

  // For messages: "abc" in quotes and cut if long, 12, "a list", "a map", "nothing".
  std::string brief() const;

 private:
  friend class DocumentBuilder;
  void link(const Value* parent);
  Value clone() const;

  std::string text_;
  std::string key_;
  std::vector<Value> items_;
  const Value* parent_ = nullptr;
  int line_ = 0;
  ValueKind kind_ = ValueKind::kNull;
  bool quoted_ = false;
  bool quoted_key_ = false;
};

struct DocumentLimits {
  std::size_t bytes = std::size_t{64} << 20;
  std::size_t values = std::size_t{8} << 20;  // after aliases are expanded
  int depth = 64;
};

class Document {
 public:
  // `file` is only a name for messages. Text that begins like a JSON object, or whose file is named
  // *.json, is read as strict JSON, all else as YAML 1.2 (which holds flow style too).
  //
  // Errors, each with its line: not UTF-8, syntax, a limit passed, a key that is not a scalar or is
  // stated twice (all of those), an alias to what is not defined yet, a tag of another application.
  static std::expected<Document, std::vector<Error>> parse(std::string_view text, std::string file,
                                                           DocumentLimits limits = {});

  const std::string& file() const { return file_; }

  // The parts between "---" lines; empty parts are left out.
  std::span<const Value> roots() const { return roots_; }

 private:
  std::string file_;
  std::vector<Value> roots_;
};

// The name of a document in messages: the path, or "<stdin>" for "-".
std::string document_name(const std::string& path);

// The whole of a file, or of standard input for "-". Error: kIo, or kOutOfRange above `bytes`.
Result<std::string> read_document_file(const std::string& path,
                                       std::size_t bytes = DocumentLimits{}.bytes);

}  // namespace fairlead
