# shellcheck shell=bash
# What `run` and `fit` share; both read it. Folders of monitors that poll by their own clock are mostly waited for, so they are
# taken beside each other and beside the others, which fill the CPUs. `here` is the folder of the monitors, in which they begin;
# what is not as expected is in `failed`.

here=$PWD
failed=()

# verdict: ends with 1 if something was not as expected.
verdict() {
  if [ ${#failed[@]} -gt 0 ]; then
    printf '\nnot as expected: %s\n' "${failed[*]}"
    exit 1
  fi
}

# polls_by_own_clock DESCRIPTOR...: whether one of them says that its monitor does.
polls_by_own_clock() {
  grep -qs '^real_time:.*interval:' "$@"
}

# each COMMAND FOLDER...: the command for each folder, and then the verdict; what it printed about monitors with a pace of their
# own is printed at the end.
each() {
  local command=$1 folder number own_pace=() others=() beside=()
  shift
  for folder in "$@"; do
    if polls_by_own_clock "$here/$folder"/*.yaml; then own_pace+=("$folder"); else others+=("$folder"); fi
  done
  trap wait EXIT
  for folder in "${own_pace[@]}"; do
    mkdir -p "$here/$folder/build"
    (
      "$command" "$folder"
      verdict
    ) >"$here/$folder/build/beside.txt" 2>&1 &
    beside+=($!)
  done
  for folder in "${others[@]}"; do "$command" "$folder"; done
  for number in "${!beside[@]}"; do
    folder=${own_pace[number]}
    wait "${beside[number]}" || failed+=("$folder")
    cat "$here/$folder/build/beside.txt"
  done
  verdict
}
