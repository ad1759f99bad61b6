# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
#
# The services of Azurite and the clients of Azure for JavaScript, from npm, for scripts that source it
# after lib.sh: a part of ../order_pipeline_azurite.sh and ../azure_blobs.sh.

packages=$WAYBILL_BIN/azurite

# azurite_install: once for all tests. Skips the script if that is not possible.
azurite_install()
{
    needs node npm
    mkdir -p "$packages"
    (
        flock 9
        [ ! -e "$packages/with-blobs" ] || exit 0
        timeout "$patience" npm install --no-audit --no-fund --silent --ignore-scripts --prefix "$packages" \
            azurite@3.37.0 @azure/data-tables@13.3.2 @azure/storage-blob@12.32.0 \
            @azure/eventhubs-checkpointstore-blob@2.0.0 >"$packages/npm.log" 2>&1 && touch "$packages/with-blobs"
    ) 9>"$packages/lock" || skip 'nothing is written to Azurite: npm cannot install it'
    ln -s "$packages/node_modules" node_modules
}

# azurite_start SERVICE [OPTION...]: on a free port, which another process may take before. Sets `port`
# and ${pid[azurite]}.
azurite_start()
{
    local tries service=$1
    for tries in 1 2 3; do
        port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1",
            () => { console.log(s.address().port); s.close(); })')
        start azurite node "$packages/node_modules/azurite/dist/src/$service/main.js" "--${service}Host" 127.0.0.1 \
            "--${service}Port" "$port" --location "$(mktemp -d "$work/data.XXX")" --skipApiVersionCheck --silent \
            --disableTelemetry "${@:2}"
        await 'Azurite does not start' azurite_listens
        ! runs azurite || return 0
    done
    fail "Azurite ends at once, $tries times"
}
azurite_listens() { grep -q 'successfully [sl]' azurite.out || has_ended azurite; }
