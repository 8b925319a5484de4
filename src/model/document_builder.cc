#include "model/document_builder.h"

#include <algorithm>

namespace fairlead {
namespace {

[[noreturn]] void refuse(int line, std::string message, std::string cure = {},
                         ErrorCode code = ErrorCode::kInvalidArgument) {
  throw DocumentRefused{DocumentProblem{line, code, std::move(message), std::move(cure), {}}};
}

std::size_t values_in(const Value& value) {
  std::size_t n = 1;
  for (const Value& item : value.items()) n += values_in(item);
  return n;
}

}  // namespace

void DocumentBuilder::count(std::size_t values, int line) {
  values_ += values;
  if (values_ <= limits_.values) return;
  refuse(line, "the document has more than " + std::to_string(limits_.values) + " values",
         "split it, or use fewer aliases", ErrorCode::kOutOfRange);
}

void DocumentBuilder::open(ValueKind kind, int line, std::size_t anchor) {
  if (static_cast<int>(stack_.size()) >= limits_.depth) {
    refuse(line, "the document is nested deeper than " + std::to_string(limits_.depth) + " levels",
           {}, ErrorCode::kOutOfRange);
  }
  if (!stack_.empty() && stack_.back().value.is_map() && !stack_.back().has_key) {
    refuse(line, "a list or a map cannot be a key");
  }
  count(1, line);
  Frame frame;
  frame.value.kind_ = kind;
  frame.value.line_ = line;
  frame.anchor = anchor;
  stack_.push_back(std::move(frame));
}

void DocumentBuilder::close() {
  Frame frame = std::move(stack_.back());
  stack_.pop_back();
  if (frame.value.is_map()) {
    merge_keys(frame.value);
    check_duplicates(frame.value);
  }
  complete(std::move(frame.value), frame.anchor, frame.depth);
}

void DocumentBuilder::scalar(std::string_view text, bool quoted, int line, std::size_t anchor) {
  count(1, line);
  Value value;
  value.kind_ = ValueKind::kScalar;
  value.line_ = line;
  value.text_ = text;
  value.quoted_ = quoted;
  complete(std::move(value), anchor, 1);
}

void DocumentBuilder::null(int line, std::size_t anchor) {
  count(1, line);
  Value value;
  value.line_ = line;
  complete(std::move(value), anchor, 1);
}

void DocumentBuilder::alias(int line, std::size_t anchor) {
  const auto found = anchors_.find(anchor);
  if (found == anchors_.end()) refuse(line, "an alias inside of what it stands for");
  count(found->second.values, line);
  if (static_cast<int>(stack_.size()) + found->second.depth > limits_.depth) {
    refuse(line, "the document is nested deeper than " + std::to_string(limits_.depth) + " levels",
           {}, ErrorCode::kOutOfRange);
  }
  complete(found->second.value.clone(), 0, found->second.depth);
}

void DocumentBuilder::complete(Value value, std::size_t anchor, int depth) {
  if (anchor != 0) {
    Anchored anchored;
    anchored.value = value.clone();
    anchored.values = values_in(value);
    anchored.depth = depth;
    // The copy is memory as well.
    count(anchored.values, value.line());
    anchors_[anchor] = std::move(anchored);
  }
  if (stack_.empty()) {
    root_ = std::move(value);
    has_root_ = true;
    return;
  }
  Frame& parent = stack_.back();
  parent.depth = std::max(parent.depth, depth + 1);
  if (parent.value.is_list()) {
    parent.value.items_.push_back(std::move(value));
    return;
  }
  if (!parent.has_key) {
    if (!value.is_scalar()) refuse(value.line(), value.brief() + " cannot be a key");
    parent.has_key = true;
    parent.key = std::move(value.text_);
    parent.key_quoted = value.quoted_;
    parent.key_line = value.line_;
    return;
  }
  parent.has_key = false;
  value.key_ = std::exchange(parent.key, {});
  value.quoted_key_ = parent.key_quoted;
  value.line_ = parent.key_line;
  parent.value.items_.push_back(std::move(value));
}

// "<<: *base" or "<<: [*a, *b]": what is stated here wins, then the earlier of the list.
void DocumentBuilder::merge_keys(Value& map) {
  const auto is_merge = [](const Value& v) { return v.key_ == "<<" && !v.quoted_key_; };
  const auto at = std::find_if(map.items_.begin(), map.items_.end(), is_merge);
  if (at == map.items_.end()) return;
  Value merge = std::move(*at);
  map.items_.erase(at);
  std::vector<Value> sources;
  if (merge.is_list()) {
    sources = std::move(merge.items_);
  } else {
    sources.push_back(std::move(merge));
  }
  for (Value& source : sources) {
    if (!source.is_map()) {
      refuse(source.line(), source.brief() + " cannot be merged", "\"<<\" takes a map by alias");
    }
    std::vector<Value> added;
    for (Value& member : source.items_) {
      if (map.find(member.key_) == nullptr) added.push_back(std::move(member));
    }
    std::move(added.begin(), added.end(), std::back_inserter(map.items_));
  }
}

// Where a member of the map that is just closed will stand.
std::string DocumentBuilder::path_to(const std::string& key) const {
  std::string out;
  for (const Frame& frame : stack_) {
    if (frame.value.is_list()) {
      out += "[" + std::to_string(frame.value.items_.size()) + "]";
    } else {
      out += (out.empty() ? "" : ".") + frame.key;
    }
  }
  return out + (out.empty() ? "" : ".") + key;
}

void DocumentBuilder::check_duplicates(const Value& map) {
  std::vector<const Value*> members;
  members.reserve(map.items_.size());
  for (const Value& member : map.items_) members.push_back(&member);
  // Equal keys in the order of the file: all members lie in one vector.
  std::sort(members.begin(), members.end(), [](const Value* a, const Value* b) {
    const int order = a->key_.compare(b->key_);
    return order != 0 ? order < 0 : a < b;
  });
  for (std::size_t i = 1; i < members.size(); ++i) {
    if (members[i]->key_ != members[i - 1]->key_ || problems_.size() >= 100) continue;
    problems_.push_back(DocumentProblem{members[i]->line_, ErrorCode::kAlreadyExists,
                                        "the key \"" + members[i]->key_ +
                                            "\" is stated twice, first on line " +
                                            std::to_string(members[i - 1]->line_),
                                        "remove one of them", path_to(members[i]->key_)});
  }
}

Value DocumentBuilder::take_root() {
  has_root_ = false;
  anchors_.clear();
  return std::exchange(root_, Value());
}

}  // namespace fairlead
