# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# The services of Azurite and the clients of Azure for JavaScript, from npm: a part of
# ../order_pipeline_azurite.sh and ../azure_blobs.sh.

# azurite_install PACKAGES: into that folder, once for all tests that name it; or prints the reason.
azurite_install()
{
    local tool
    for tool in node npm; do
        command -v $tool >/dev/null || { echo "there is no $tool"; return 1; }
    done
    mkdir -p "$1"
    (
        flock 9
        [ ! -e "$1/with-blobs" ] || exit 0
        timeout 400 npm install --no-audit --no-fund --silent --ignore-scripts --prefix "$1" \
            azurite@3.37.0 @azure/data-tables@13.3.2 @azure/storage-blob@12.32.0 \
            @azure/eventhubs-checkpointstore-blob@2.0.0 >"$1/npm.log" 2>&1 && touch "$1/with-blobs"
    ) 9>"$1/lock" || { echo 'npm cannot install azurite'; return 1; }
}

# azurite_start PACKAGES WORK SECONDS [SERVICE [OPTION...]]: the service `table`, or another one, on a
# free port, which another process may take before, with its data below WORK, for at most SECONDS.
# Sets `port` and `azurite`.
azurite_start()
{
    local tries service=${4:-table}
    for tries in 1 2 3; do
        port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1",
            () => { console.log(s.address().port); s.close(); })')
        timeout -k 5 "$3" node "$1/node_modules/azurite/dist/src/$service/main.js" "--${service}Host" 127.0.0.1 \
            "--${service}Port" "$port" --location "$2/data$tries" --skipApiVersionCheck --silent \
            --disableTelemetry "${@:5}" >"$2/server.log" 2>&1 &
        azurite=$!
        for _ in $(seq 300); do
            if ! kill -0 "$azurite" 2>/dev/null || grep -q 'successfully [sl]' "$2/server.log"; then break; fi
            sleep 0.2
        done
        if kill -0 "$azurite" 2>/dev/null && grep -q 'successfully [sl]' "$2/server.log"; then return 0; fi
        azurite_stop
    done
    cat "$2/server.log" >&2
    return 1
}

azurite_stop()
{
    [ -z "${azurite:-}" ] || kill "$azurite" 2>/dev/null || true
    [ -z "${azurite:-}" ] || wait "$azurite" 2>/dev/null || true
    azurite=
}
