// Inside of document.h: puts the tree together from the events of the YAML and JSON parsers.
//
// Keeps the limits while it builds, so that nothing larger than allowed ever exists. Not for use
// outside the document reader.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/document.h"

namespace fairlead {

struct DocumentProblem {
  int line = 1;
  ErrorCode code = ErrorCode::kInvalidArgument;
  std::string message;
  std::string cure;
  std::string field;
};

// Thrown through a parser that cannot be stopped otherwise; caught in the same file.
struct DocumentRefused {
  DocumentProblem problem;
};

class DocumentBuilder {
 public:
  explicit DocumentBuilder(DocumentLimits limits) : limits_(limits) {}

  // Anchor 0 is none. All throw DocumentRefused.
  void open(ValueKind kind, int line, std::size_t anchor);
  void close();
  void scalar(std::string_view text, bool quoted, int line, std::size_t anchor);
  void null(int line, std::size_t anchor);
  void alias(int line, std::size_t anchor);

  // The finished document; the builder is empty again, but keeps counting values.
  Value take_root();
  bool has_root() const { return has_root_; }

  // Lets every value know its parent, once nothing moves any more.
  static void link_all(std::vector<Value>& roots) {
    for (Value& root : roots) root.link(nullptr);
  }

  // Duplicate keys found so far.
  std::vector<DocumentProblem> take_problems() { return std::exchange(problems_, {}); }

 private:
  struct Frame {
    Value value;
    std::size_t anchor = 0;
    int depth = 1;  // of the deepest thing in it, counted from itself
    bool has_key = false;
    bool key_quoted = false;
    int key_line = 0;
    std::string key;
  };
  struct Anchored {
    Value value;
    std::size_t values = 0;
    int depth = 0;
  };

  void complete(Value value, std::size_t anchor, int depth);
  void count(std::size_t values, int line);
  void merge_keys(Value& map);
  std::string path_to(const std::string& key) const;
  void check_duplicates(const Value& map);

  DocumentLimits limits_;
  std::size_t values_ = 0;
  std::vector<Frame> stack_;
  std::unordered_map<std::size_t, Anchored> anchors_;
  Value root_;
  bool has_root_ = false;
  std::vector<DocumentProblem> problems_;
};

// Each reads the whole text into `roots`; what is wrong is returned.
std::vector<DocumentProblem> read_yaml(std::string_view text, DocumentBuilder& builder,
                                       std::vector<Value>& roots);
std::vector<DocumentProblem> read_json(std::string_view text, DocumentBuilder& builder,
                                       std::vector<Value>& roots);

}  // namespace fairlead
