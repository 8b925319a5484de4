#!/usr/bin/env bash
# What bash, zsh and fish do with the scripts of `fairlead completion`: completion_test.sh PROGRAM
set -euo pipefail
program=$1
failed=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# expect WORDS COMMAND-LINE…: what is offered for the last word.
expect() {
  local wanted=$1 is
  shift
  COMP_WORDS=("$@")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMPREPLY=()
  _fairlead || true  # compgen fails where it finds nothing
  is=${COMPREPLY[*]-}
  [[ $is == "$wanted" ]] || { failed=1; echo "after '$*': expected '$wanted', is '$is'" >&2; }
}

eval "$("$program" completion bash)"
expect "version validate" fairlead v
expect "run check print" fairlead scenario ""
expect "demo" fairlead simulate d
expect "table json yaml" fairlead share -o ""
expect "json" fairlead share q.yaml --output-format = j
expect "json" fairlead share q.yaml --output-format j
expect "default dotprod" fairlead simulate openb --policy d
expect "default" fairlead simulate trace --policy d
expect "--faults --fault-scale" fairlead simulate demo --fault
expect "bash zsh fish" fairlead completion ""
expect "" fairlead simulate demo --seed ""
expect "README.md" fairlead validate READ
expect "README.md" fairlead simulate demo --html READ
expect "" fairlead nonsense

# Names are asked of the server; here of one that knows two workloads and a project.
fairlead() {
  [[ $1 == __complete ]] || return 1
  case $2 in workloads) printf 'train\nteal\n' ;; projects) echo vision ;; esac
}
expect "train teal" fairlead why t
expect "train" fairlead training pytorch logs tr
expect "vision" fairlead list --project ""
expect "jobs" fairlead list jo
unset -f fairlead

# Where none answers nothing is said.
export FAIRLEAD_SERVER=unix:/nonexistent/fairlead.sock
[[ -z $("$program" __complete workloads 2>&1) ]] || { failed=1; echo "__complete speaks" >&2; }

# By another name.
ln -s "$(realpath "$program")" "$folder/runai"
eval "$("$folder/runai" completion bash)"
COMP_WORDS=(runai wh) COMP_CWORD=1 COMPREPLY=()
_runai || true
[[ ${COMPREPLY[*]} == "why whoami whatif" ]] || { failed=1; echo "runai: ${COMPREPLY[*]}" >&2; }

for shell in zsh fish; do
  if command -v "$shell" >/dev/null; then "$program" completion "$shell" | "$shell" -n; fi
done
exit "$failed"
