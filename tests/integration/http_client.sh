#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# HTTP by libcurl: the outcome of each kind of failure, and https:// with a self-signed certificate. With
# the CA file the certificate is accepted. Without it, the request is not sent, and the text names the
# reason. send_batches sends to SQS by https, with signed requests that the stand-in verifies.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs http_requests
program=$programs/http_requests
unset CURL_CA_BUNDLE SSL_CERT_FILE AWS_SESSION_TOKEN
expect_exit 0 outcomes

needs python3 openssl
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=waybill-test -addext subjectAltName=IP:127.0.0.1 \
    -keyout key.pem -out ca.pem 2>err || fail 'no certificate'
cat key.pem ca.pem >server.pem

start tls python3 "$here/http_client/server.py" server.pem
expect_exit 0 tls "$(first_line tls)" ca.pem

needs send_batches
program=$examples/send_batches
start sqs python3 "$here/send_batches/sqs_stand_in.py" got 65536 tls=server.pem signed=key-id:secret
port=$(first_line sqs)
export AWS_REGION=eu-west-1 AWS_ACCESS_KEY_ID=key-id AWS_SECRET_ACCESS_KEY=secret
to=sqs:https://127.0.0.1:$port/1234/lines
for n in $(seq 200); do echo "{\"line\":$n}"; done >lines
sends() { expect_exit "$1" --to "$to" --input lines; }
sends 1
expect_output "the server's certificate is refused"
[ ! -s got ] || fail 'lines were sent to a server whose certificate was refused'
export CURL_CA_BUNDLE=$work/ca.pem
sends 0
cmp -s lines got || fail 'the lines are not in the queue'
AWS_SECRET_ACCESS_KEY=other sends 1
expect_output 'SignatureDoesNotMatch'
AWS_REGION='' sends 1
expect_output 'AWS_ACCESS_KEY_ID needs AWS_SECRET_ACCESS_KEY and AWS_REGION'
cmp -s lines got || fail 'lines were accepted without a valid signature'
echo 'http_client: certificates are checked, and requests to SQS are signed'
