// Names to dense ids and back. Ids are handed out in order of first use and never reused.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace fairlead::sched {

template <class IdType>
class Interner {
 public:
  IdType intern(const std::string& name) {
    const auto [it, inserted] = ids_.try_emplace(name, IdType(names_.size()));
    if (inserted) names_.push_back(name);
    return it->second;
  }
  std::optional<IdType> find(const std::string& name) const {
    const auto it = ids_.find(name);
    if (it == ids_.end()) return std::nullopt;
    return it->second;
  }
  const std::string& name(IdType id) const { return names_[id.index()]; }
  std::size_t size() const { return names_.size(); }

 private:
  std::unordered_map<std::string, IdType> ids_;
  std::vector<std::string> names_;
};

}  // namespace fairlead::sched
