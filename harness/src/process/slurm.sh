#!/bin/sh
# Stands first in PATH as scontrol and sinfo on a node of a drill: it answers about this node, and writes down what it
# is asked. Its folder has the node's name, its state and the record.
here=${0%/*}/..
read -r node <"$here/node"
state=IDLE reason=
if [ -e "$here/state" ]; then
  { read -r state; read -r reason; } <"$here/state"
fi

# Every name in a list is this node's, or there is none.
is_mine() {
  [ -z "$1" ] || [ "$1" = "$node" ]
}

scontrol() {
  printf '%s\0' "$#" "$@" >>"$here/calls"
  end='
'
  while :; do
    case $1 in
      -o | --oneliner) end=' '; shift ;;
      -*) shift ;;
      *) break ;;
    esac
  done
  case $1 in
    show)
      case $2 in
        node | nodes) ;;
        *) echo "scontrol: of this node only \`show node\` is known" >&2; exit 1 ;;
      esac
      if ! is_mine "$3"; then echo "Node $3 not found"; exit 1; fi
      printf 'NodeName=%s NodeHostName=%s%s   State=%s' "$node" "$node" "$end" "$state"
      [ -z "$reason" ] || printf '%s   Reason=%s' "$end" "$reason"
      echo
      ;;
    update)
      shift
      asked= why= whose=
      for word; do
        case $word in
          [Nn]ode[Nn]ame=* | nodename=*) whose=${word#*=} ;;
          [Ss]tate=* | STATE=*) asked=${word#*=} ;;
          [Rr]eason=* | REASON=*) why=${word#*=} ;;
        esac
      done
      if [ "$whose" != "$node" ]; then echo "Invalid node name specified" >&2; exit 1; fi
      case $asked in
        [Dd][Rr][Aa][Ii][Nn])
          if [ -z "$why" ]; then
            echo "You must specify a reason when DRAINING a node." >&2
            exit 1
          fi
          state=IDLE+DRAIN reason=$why
          ;;
        [Dd][Oo][Ww][Nn] | [Ff][Aa][Ii][Ll]) state=DOWN reason=$why ;;
        [Rr][Ee][Ss][Uu][Mm][Ee] | [Uu][Nn][Dd][Rr][Aa][Ii][Nn] | [Ii][Dd][Ll][Ee]) state=IDLE reason= ;;
        '') [ -z "$why" ] || reason=$why ;;
        *) echo "Invalid node state specified: $asked" >&2; exit 1 ;;
      esac
      printf '%s\n%s\n' "$state" "$reason" >"$here/state"
      ;;
    *) echo "scontrol: \`$1\` is not answered in a drill" >&2; exit 1 ;;
  esac
}

# The format with the state (`%t`, `%T`), the reason (`%E`) and the name (`%n`, `%N`).
sinfo() {
  format='%N %t %E' nodes=
  while [ $# -gt 0 ]; do
    case $1 in
      --format=*) format=${1#*=} ;;
      --nodes=*) nodes=${1#*=} ;;
      -o | --format | -ho | -No | -hNo | -Nho) format=$2; shift ;;
      -n | --nodes | -hn | -Nn | -hNn | -Nhn) nodes=$2; shift ;;
      -h | -N | -hN | -Nh | --noheader | --Node) ;;
      *) echo "sinfo: \`$1\` is not answered in a drill" >&2; exit 1 ;;
    esac
    shift
  done
  is_mine "$nodes" || exit 0
  case $state in
    *DRAIN) short=drain long=drained ;;
    DOWN) short=down long=down ;;
    *) short=idle long=idle ;;
  esac
  out=
  while [ -n "$format" ]; do
    case $format in
      %*)
        format=${format#%}
        while :; do
          case $format in
            [0-9.]*) format=${format#?} ;;
            *) break ;;
          esac
        done
        case $format in
          t*) out=$out$short ;;
          T*) out=$out$long ;;
          E*) out=$out${reason:-none} ;;
          n* | N*) out=$out$node ;;
          *) out=$out'n/a' ;;
        esac
        format=${format#?}
        ;;
      *)
        rest=${format#?}
        out=$out${format%"$rest"}
        format=$rest
        ;;
    esac
  done
  printf '%s\n' "$out"
}

case ${0##*/} in
  sinfo) sinfo "$@" ;;
  *) scontrol "$@" ;;
esac
