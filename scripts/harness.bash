# Sourced by the scripts that check and test: named, timed steps and servers that end with the script.

logs=target/test-logs
mkdir -p "$logs"

# step NAME COMMAND…: runs the command under a banner, keeps its output in a log, ends the script if it fails.
step() {
    local name=$1 start=$SECONDS code=0
    local log=$logs/${name//[^a-zA-Z0-9]/-}.log
    shift
    echo
    echo "── $name"
    "$@" 2>&1 | tee "$log" || code=$?
    if ((code != 0)); then
        echo "── $name: FAILED with exit code $code after $((SECONDS - start)) s; the log is $log" >&2
        exit 1
    fi
    echo "── $name: $((SECONDS - start)) s"
}

# A port that was free a moment ago.
free_port() {
    .tools/venv/bin/python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

servers=()
stop_servers() {
    local pid
    for pid in ${servers[@]+"${servers[@]}"}; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    servers=()
}
trap stop_servers EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# start_server LOG HEALTH_URL COMMAND…: runs a server in the background until the script ends,
# and returns once its health URL answers.
start_server() {
    local log=$1 health=$2 pid tries
    shift 2
    "$@" >"$log" 2>&1 &
    pid=$!
    servers+=("$pid")
    for ((tries = 0; tries < 300; tries++)); do
        if curl --silent --fail --output /dev/null --max-time 2 "$health"; then return; fi
        if ! kill -0 "$pid" 2>/dev/null; then break; fi
        sleep 0.1
    done
    tail -n 25 "$log" >&2
    echo "$1 does not answer on $health; its log is $log" >&2
    return 1
}
