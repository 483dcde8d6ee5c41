# Identifies processes reliably. An identity is a pid and its start time, so that a reused pid has another identity.

# Prints the identity of a process. Fails if the process has ended, even if its parent has not waited for it yet.
identity() { # pid
  local stat fields
  # Does not use $(<file): if the file is missing, bash 5.2 ends the shell under `set -e`, even inside a condition.
  { mapfile -t stat <"/proc/$1/stat"; } 2>/dev/null || return 1
  ((${#stat[@]} > 0)) || return 1  # the process ended during the read
  read -ra fields <<<"${stat[-1]##*) }"  # the fields from the third on; the second one, the name, may contain any text
  [[ ${fields[0]} != [ZX] ]] || return 1
  echo "$1 ${fields[19]}"
}

alive() { identity "$1" >/dev/null; }  # pid

same_process() { # identity
  [[ $(identity "${1%% *}") == "$1" ]]
}
