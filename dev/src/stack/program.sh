# Runs a program and never lets it outlive whoever holds our standard input.
exec 3<&0
"$@" 3<&- </dev/null &
program=$!
echo "pid $program"
{ cat <&3; kill -KILL "$program"; } >/dev/null 2>&1 &
exec 3<&-
wait "$program" 2>/dev/null
