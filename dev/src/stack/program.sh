# Runs a program and never lets it outlive whoever holds our standard input.
# The first line on standard output is the program's id: it is written by the process that becomes the
# program, so nothing of the program's own can come before it.
exec 3<&0
sh -c 'echo "pid $$"; exec "$@"' sh "$@" 3<&- </dev/null &
program=$!
{ cat <&3; kill -KILL "$program"; } >/dev/null 2>&1 &
leash=$!
exec 3<&-
wait "$program" 2>/dev/null
status=$?
# From here on the id may be given to a stranger.
kill "$leash"
exit "$status"
