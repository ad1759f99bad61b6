PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE orders (
            id INTEGER PRIMARY KEY, item TEXT NOT NULL, at TEXT NOT NULL);
INSERT INTO orders VALUES(1,'perl-base','2026-11-20T18:29:22.815251Z');
INSERT INTO orders VALUES(2,'liblzma5:amd64','2026-11-20T18:29:22.874259Z');
INSERT INTO orders VALUES(3,'libapt-pkg6.0:amd64','2026-11-20T18:29:22.982745Z');
INSERT INTO orders VALUES(4,'apt','2026-11-20T18:29:23.548849Z');
INSERT INTO orders VALUES(5,'libpcre2-8-0:amd64','2026-11-20T18:29:23.623252Z');
INSERT INTO orders VALUES(6,'tzdata','2026-11-20T18:29:28.037241Z');
INSERT INTO orders VALUES(7,'libc-bin','2026-11-20T18:29:28.044385Z');
INSERT INTO orders VALUES(8,'linux-headers-6.1.0-56-common','2026-11-20T18:29:55.473097Z');
INSERT INTO orders VALUES(9,'libexpat1:amd64','2026-11-20T18:29:55.475495Z');
INSERT INTO orders VALUES(10,'libkeyutils1:amd64','2026-11-20T18:29:55.477951Z');
INSERT INTO orders VALUES(11,'libpsl5:amd64','2026-11-20T18:29:55.480016Z');
INSERT INTO orders VALUES(12,'libsodium23:amd64','2026-11-20T18:29:55.481867Z');
INSERT INTO orders VALUES(13,'libgpm2:amd64','2026-11-20T18:29:55.483881Z');
INSERT INTO orders VALUES(14,'libicu72:amd64','2026-11-20T18:29:55.486448Z');
INSERT INTO orders VALUES(15,'libbrotli1:amd64','2026-11-20T18:29:55.489027Z');
INSERT INTO orders VALUES(16,'golang-golang-x-sys-dev','2026-11-20T18:29:55.491920Z');
INSERT INTO orders VALUES(17,'binutils-common:amd64','2026-11-20T18:29:55.494476Z');
INSERT INTO orders VALUES(18,'libssl3:amd64','2026-11-20T18:29:55.496362Z');
INSERT INTO orders VALUES(19,'libnghttp2-14:amd64','2026-11-20T18:29:55.498529Z');
INSERT INTO orders VALUES(20,'libctf-nobfd0:amd64','2026-11-20T18:29:55.500948Z');
INSERT INTO orders VALUES(21,'libgomp1:amd64','2026-11-20T18:29:55.503003Z');
INSERT INTO orders VALUES(22,'libjansson4:amd64','2026-11-20T18:29:55.504964Z');
INSERT INTO orders VALUES(23,'libkrb5support0:amd64','2026-11-20T18:29:55.507052Z');
INSERT INTO orders VALUES(24,'libsasl2-modules-db:amd64','2026-11-20T18:29:55.508894Z');
INSERT INTO orders VALUES(25,'perl-modules-5.36','2026-11-20T18:29:55.511010Z');
INSERT INTO orders VALUES(26,'libuv1:amd64','2026-11-20T18:29:55.513106Z');
INSERT INTO orders VALUES(27,'vim-common','2026-11-20T18:29:55.516990Z');
CREATE TABLE outbox (
            id INTEGER PRIMARY KEY, recipient TEXT NOT NULL, subject TEXT NOT NULL,
            state TEXT NOT NULL DEFAULT 'fresh');
INSERT INTO outbox VALUES(1,'perl-base@customers.example','Your order 1: perl-base','sent');
INSERT INTO outbox VALUES(2,'liblzma5_amd64@customers.example','Your order 2: liblzma5:amd64','sent');
INSERT INTO outbox VALUES(3,'libapt-pkg6_0_amd64@customers.example','Your order 3: libapt-pkg6.0:amd64','sent');
INSERT INTO outbox VALUES(4,'apt@customers.example','Your order 4: apt','sent');
INSERT INTO outbox VALUES(5,'libpcre2-8-0_amd64@customers.example','Your order 5: libpcre2-8-0:amd64','sent');
INSERT INTO outbox VALUES(6,'tzdata@customers.example','Your order 6: tzdata','sent');
INSERT INTO outbox VALUES(7,'libc-bin@customers.example','Your order 7: libc-bin','sent');
INSERT INTO outbox VALUES(8,'linux-headers-6_1_0-56-common@customers.example','Your order 8: linux-headers-6.1.0-56-common','sent');
INSERT INTO outbox VALUES(9,'libexpat1_amd64@customers.example','Your order 9: libexpat1:amd64','sent');
INSERT INTO outbox VALUES(10,'libkeyutils1_amd64@customers.example','Your order 10: libkeyutils1:amd64','sent');
INSERT INTO outbox VALUES(11,'libpsl5_amd64@customers.example','Your order 11: libpsl5:amd64','sent');
INSERT INTO outbox VALUES(12,'libsodium23_amd64@customers.example','Your order 12: libsodium23:amd64','sent');
INSERT INTO outbox VALUES(13,'libgpm2_amd64@customers.example','Your order 13: libgpm2:amd64','sent');
INSERT INTO outbox VALUES(14,'libicu72_amd64@customers.example','Your order 14: libicu72:amd64','sent');
INSERT INTO outbox VALUES(15,'libbrotli1_amd64@customers.example','Your order 15: libbrotli1:amd64','sent');
INSERT INTO outbox VALUES(16,'golang-golang-x-sys-dev@customers.example','Your order 16: golang-golang-x-sys-dev','sent');
INSERT INTO outbox VALUES(17,'binutils-common_amd64@customers.example','Your order 17: binutils-common:amd64','sent');
INSERT INTO outbox VALUES(18,'libssl3_amd64@customers.example','Your order 18: libssl3:amd64','sent');
INSERT INTO outbox VALUES(19,'libnghttp2-14_amd64@customers.example','Your order 19: libnghttp2-14:amd64','sent');
INSERT INTO outbox VALUES(20,'libctf-nobfd0_amd64@customers.example','Your order 20: libctf-nobfd0:amd64','sent');
INSERT INTO outbox VALUES(21,'libgomp1_amd64@customers.example','Your order 21: libgomp1:amd64','sent');
INSERT INTO outbox VALUES(22,'libjansson4_amd64@customers.example','Your order 22: libjansson4:amd64','sent');
INSERT INTO outbox VALUES(23,'libkrb5support0_amd64@customers.example','Your order 23: libkrb5support0:amd64','sent');
INSERT INTO outbox VALUES(24,'libsasl2-modules-db_amd64@customers.example','Your order 24: libsasl2-modules-db:amd64','sent');
INSERT INTO outbox VALUES(25,'perl-modules-5_36@customers.example','Your order 25: perl-modules-5.36','sent');
INSERT INTO outbox VALUES(26,'libuv1_amd64@customers.example','Your order 26: libuv1:amd64','sent');
INSERT INTO outbox VALUES(27,'vim-common@customers.example','Your order 27: vim-common','deferred');
CREATE TABLE books (name TEXT PRIMARY KEY, bytes BLOB NOT NULL);
INSERT INTO books VALUES('deferred',X'77626401011be894cecfa5c8d0ea31d3d3baa1010000008af2638f');
CREATE TABLE dead_letters (
            id INTEGER PRIMARY KEY, recipient TEXT NOT NULL, subject TEXT NOT NULL,
            reason TEXT NOT NULL, tries INTEGER NOT NULL, parked INTEGER NOT NULL,
            held INTEGER NOT NULL DEFAULT 0);
CREATE TABLE pruned (
            id INTEGER PRIMARY KEY, parked INTEGER NOT NULL, why TEXT NOT NULL);
CREATE TABLE closed (one INTEGER PRIMARY KEY);
CREATE INDEX fresh_mails ON outbox (id) WHERE state = 'fresh';
COMMIT;
