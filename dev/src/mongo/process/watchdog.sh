# Runs one mongod and ties its life to the launcher's. Arguments: the data directory, then the command.
#
# Standard input is a pipe that only the launcher holds: one signal name a line, each answered by a line
# on standard error once it has been sent. End of file means that the launcher is gone, by whatever death:
# the server is killed and its data removed. Until then this shell is the server's parent and does not
# wait for it, so the process id can't be given to a stranger.
#
# Standard output belongs to the server alone after its first line (the process id), so the launcher sees
# the server's end as end of file.
data=$1
shift

sh -c 'echo "$$"; exec "$@"' sh "$@" </dev/null 2>&1 &
server=$!
exec >&-
# A launcher that dies while it is being answered must not take this shell along.
trap '' PIPE

while read -r word; do
    case $word in
    release) exit 0 ;;
    *) kill -s "$word" "$server" ;;
    esac
    echo done >&2
done

# The shell reports a killed child on standard error, which nobody holds any more.
exec 2>/dev/null
kill -s KILL "$server"
wait "$server"
rm -rf -- "$data"
