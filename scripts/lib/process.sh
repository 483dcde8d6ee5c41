# Processes known for sure: an identity is a pid with its start time, so a pid that was given out again is another one.

# Prints the identity of a process; fails for one that has ended, even if nobody has waited for it yet.
identity() { # pid
  local stat fields
  # Not $(<file): where there is no such file, bash 5.2 ends the shell under `set -e`, whatever stands around it.
  { mapfile -t stat <"/proc/$1/stat"; } 2>/dev/null || return 1
  ((${#stat[@]} > 0)) || return 1  # it ended while it was read
  read -ra fields <<<"${stat[-1]##*) }"  # from the third field on: the second, the name, may hold anything
  [[ ${fields[0]} != [ZX] ]] || return 1
  echo "$1 ${fields[19]}"
}

alive() { identity "$1" >/dev/null; }  # pid

same_process() { # identity
  [[ $(identity "${1%% *}") == "$1" ]]
}
