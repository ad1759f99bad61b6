#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# HTTP by libcurl: the outcome of each kind of failure, and https:// with a self-signed certificate. With
# the CA file the certificate is accepted. Without it, the request is not sent, and the text names the
# reason. send_batches sends to SQS by https, with signed requests that the stand-in verifies.
set -euo pipefail
export LC_ALL=C
here=$WAYBILL_SOURCE/tests/integration/http_client
program=$WAYBILL_BIN/examples/send_batches
work=$(mktemp -d)
servers=()
finish()
{
    local server
    for server in ${servers[@]+"${servers[@]}"}; do kill "$server" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
cd "$work"

fail()
{
    echo "http_client: $*" >&2
    for said in out err; do [ ! -e $said ] || tail -n 20 $said >&2; done
    exit 1
}
skip()
{
    echo "SKIP: http_client: $*"
    exit 0
}
for header in curl/curl.h nlohmann/json.hpp openssl/evp.h; do
    echo "#include <$header>" | "${CXX:-c++}" -std=c++20 -E -x c++ - >/dev/null 2>&1 || skip "no $header"
done
"${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples" "$here/requests.cpp" \
    -o requests -pthread -lcurl -lcrypto
unset CURL_CA_BUNDLE SSL_CERT_FILE AWS_SESSION_TOKEN
timeout 120 ./requests outcomes || fail 'an outcome is wrong'

for tool in python3 openssl; do command -v $tool >/dev/null || skip "https: there is no $tool"; done
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=waybill-test -addext subjectAltName=IP:127.0.0.1 \
    -keyout key.pem -out ca.pem 2>err || fail 'no certificate'
cat key.pem ca.pem >server.pem

# listens NAME COMMAND...: a server that prints its port. Sets `port`.
listens()
{
    local name=$1
    shift
    timeout 200 "$@" >"$name.port" 2>"$name.log" &
    servers+=($!)
    for _ in $(seq 300); do
        [ ! -s "$name.port" ] || break
        sleep 0.1
    done
    port=$(cat "$name.port")
    [ -n "$port" ] || fail "$name does not start: $(cat "$name.log")"
}
listens tls python3 "$here/server.py" server.pem
timeout 120 ./requests tls "$port" ca.pem || fail 'a certificate is not checked'

[ -x "$program" ] || skip 'sqs: send_batches was not built'
listens sqs python3 "$WAYBILL_SOURCE/tests/integration/send_batches/sqs_stand_in.py" got 65536 \
    tls=server.pem signed=key-id:secret
export AWS_REGION=eu-west-1 AWS_ACCESS_KEY_ID=key-id AWS_SECRET_ACCESS_KEY=secret
to=sqs:https://127.0.0.1:$port/1234/lines
for n in $(seq 200); do echo "{\"line\":$n}"; done >lines
# sends CODE: send_batches must end with this code.
sends()
{
    local code=0
    timeout 60 "$program" --to "$to" --input lines >out 2>err || code=$?
    [ $code -eq "$1" ] || fail "exit $code, not $1"
}
expect_text() { grep -qF -- "$1" out err || fail "it does not print: $1"; }
sends 1
expect_text "the server's certificate is refused"
[ ! -s got ] || fail 'lines were sent to a server whose certificate was refused'
export CURL_CA_BUNDLE=$work/ca.pem
sends 0
cmp -s lines got || fail 'the lines are not in the queue'
AWS_SECRET_ACCESS_KEY=other sends 1
expect_text 'SignatureDoesNotMatch'
AWS_REGION='' sends 1
expect_text 'AWS_ACCESS_KEY_ID needs AWS_SECRET_ACCESS_KEY and AWS_REGION'
cmp -s lines got || fail 'lines were accepted without a valid signature'
echo 'http_client: certificates are checked, and requests to SQS are signed'
