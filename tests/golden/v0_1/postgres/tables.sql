CREATE TABLE public.attempts (
    source text NOT NULL,
    grp text NOT NULL,
    part text NOT NULL,
    behind numeric(20,0),
    up_to numeric(20,0) NOT NULL,
    suspects numeric(20,0) NOT NULL,
    deaths bigint NOT NULL,
    by numeric(20,0) NOT NULL,
    epoch numeric(20,0) NOT NULL
);
CREATE TABLE public.checkpoints (
    source text NOT NULL,
    grp text NOT NULL,
    part text NOT NULL,
    sequence numeric(20,0),
    place bytea NOT NULL,
    epoch numeric(20,0) NOT NULL
);
CREATE TABLE public.dead_letters (
    source text NOT NULL,
    grp text NOT NULL,
    part text NOT NULL,
    sequence numeric(20,0) NOT NULL,
    place bytea NOT NULL,
    class smallint NOT NULL,
    reason bytea NOT NULL,
    body bytea NOT NULL,
    tries bigint NOT NULL,
    occurred bigint,
    parked bigint,
    kept smallint NOT NULL,
    size numeric(20,0) NOT NULL,
    checksum bigint NOT NULL
);
CREATE TABLE public.effects (
    part text NOT NULL,
    sequence numeric(20,0) NOT NULL
);
CREATE TABLE public.lease_owners (
    source text NOT NULL,
    grp text NOT NULL,
    owner text NOT NULL,
    incarnation numeric(20,0) NOT NULL,
    version numeric(20,0) NOT NULL
);
CREATE SEQUENCE public.lease_versions
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE public.leases (
    source text NOT NULL,
    grp text NOT NULL,
    part text NOT NULL,
    owner text NOT NULL,
    incarnation numeric(20,0) NOT NULL,
    epoch numeric(20,0) NOT NULL,
    version bigint NOT NULL
);
INSERT INTO public.attempts VALUES ('orders', 'billing', '1', 14, 16, 2, 3, 11812434745342475567, 4);
INSERT INTO public.checkpoints VALUES ('orders', 'billing', '3', NULL, '\x', 0);
INSERT INTO public.checkpoints VALUES ('orders', 'billing', '2', 18446744073709551025, '\x617420323100ff', 1);
INSERT INTO public.checkpoints VALUES ('orders', 'billing', '0', 25, '\x617420323100ff', 2);
INSERT INTO public.checkpoints VALUES ('orders', 'billing', '1', 14, '\x617420313200ff', 4);
INSERT INTO public.dead_letters VALUES ('orders', 'billing', '0', 4, '\x61742034', 2, '\x6e6f20746f74616c2000ff', '\x7b226f72646572223a', 1, 1767225600000000004, 1795539533571280234, 2, 49, 3139471214);
INSERT INTO public.dead_letters VALUES ('orders', 'billing', '0', 7, '\x6174203600ff', 1, '\x6e6f20616e7377657220696e2074696d65', '\x7b226f72646572223a367d', 3, 1767225600000000006, 1795539533571280234, 0, 11, 1776970410);
INSERT INTO public.dead_letters VALUES ('orders', 'billing', '1', 4, '\x61742034', 2, '\x6e6f20746f74616c2000ff', '\x', 1, 1767225600000000004, 1795539533573902413, 1, 49, 3139471214);
INSERT INTO public.dead_letters VALUES ('orders', 'billing', '1', 7, '\x6174203600ff', 1, '\x6e6f20616e7377657220696e2074696d65', '\x', 3, 1767225600000000006, 1795539533573902413, 1, 11, 1776970410);
INSERT INTO public.dead_letters VALUES ('orders', 'billing', '0', 15, '\x6174203133', 2, '\x6e6f20746f74616c2000ff', '\x7b226f72646572223a', 1, NULL, 1795539533575269495, 2, 50, 3772873844);
INSERT INTO public.dead_letters VALUES ('orders', 'billing', '2', 18446744073709551004, '\x61742034', 2, '\x6e6f20746f74616c2000ff', '\x7b226f72646572223a347d0020ff206e6f7420746578742c20616e64206c6f6e676572207468616e203332206279746573', 1, 1767225600000000004, 1795539533596563587, 0, 49, 3139471214);
INSERT INTO public.dead_letters VALUES ('orders', 'billing', '2', 18446744073709551007, '\x6174203600ff', 1, '\x6e6f20616e7377657220696e2074696d65', '\x7b226f72646572223a367d', 3, 1767225600000000006, 1795539533596563587, 0, 11, 1776970410);
INSERT INTO public.dead_letters VALUES ('orders', 'billing', '2', 18446744073709551015, '\x6174203133', 2, '\x6e6f20746f74616c2000ff', '\x7b226f72646572223a31337d0020ff206e6f7420746578742c20616e64206c6f6e676572207468616e203332206279746573', 1, NULL, 1795539533601241322, 0, 50, 3772873844);
INSERT INTO public.dead_letters VALUES ('orders', 'billing', '2', 18446744073709551022, '\x6174203139', 1, '\x6e6f20616e7377657220696e2074696d65', '\x7b226f72646572223a31397d', 3, NULL, 1795539533602669446, 0, 12, 2422276042);
INSERT INTO public.dead_letters VALUES ('orders', 'billing', '0', 22, '\x6174203139', 1, '\x6e6f20616e7377657220696e2074696d65', '\x7b226f72646572223a31397d', 3, NULL, 1795539533628771054, 0, 12, 2422276042);
INSERT INTO public.effects VALUES ('0', 1);
INSERT INTO public.effects VALUES ('0', 2);
INSERT INTO public.effects VALUES ('0', 3);
INSERT INTO public.effects VALUES ('0', 6);
INSERT INTO public.effects VALUES ('0', 8);
INSERT INTO public.effects VALUES ('0', 9);
INSERT INTO public.effects VALUES ('1', 1);
INSERT INTO public.effects VALUES ('1', 2);
INSERT INTO public.effects VALUES ('1', 3);
INSERT INTO public.effects VALUES ('1', 6);
INSERT INTO public.effects VALUES ('1', 8);
INSERT INTO public.effects VALUES ('1', 9);
INSERT INTO public.effects VALUES ('0', 10);
INSERT INTO public.effects VALUES ('0', 12);
INSERT INTO public.effects VALUES ('0', 13);
INSERT INTO public.effects VALUES ('0', 14);
INSERT INTO public.effects VALUES ('0', 16);
INSERT INTO public.effects VALUES ('0', 18);
INSERT INTO public.effects VALUES ('0', 19);
INSERT INTO public.effects VALUES ('2', 18446744073709551001);
INSERT INTO public.effects VALUES ('2', 18446744073709551002);
INSERT INTO public.effects VALUES ('2', 18446744073709551003);
INSERT INTO public.effects VALUES ('2', 18446744073709551006);
INSERT INTO public.effects VALUES ('2', 18446744073709551008);
INSERT INTO public.effects VALUES ('2', 18446744073709551009);
INSERT INTO public.effects VALUES ('2', 18446744073709551010);
INSERT INTO public.effects VALUES ('2', 18446744073709551012);
INSERT INTO public.effects VALUES ('2', 18446744073709551013);
INSERT INTO public.effects VALUES ('2', 18446744073709551014);
INSERT INTO public.effects VALUES ('2', 18446744073709551016);
INSERT INTO public.effects VALUES ('2', 18446744073709551018);
INSERT INTO public.effects VALUES ('2', 18446744073709551019);
INSERT INTO public.effects VALUES ('2', 18446744073709551020);
INSERT INTO public.effects VALUES ('2', 18446744073709551021);
INSERT INTO public.effects VALUES ('2', 18446744073709551024);
INSERT INTO public.effects VALUES ('2', 18446744073709551025);
INSERT INTO public.effects VALUES ('0', 20);
INSERT INTO public.effects VALUES ('0', 21);
INSERT INTO public.effects VALUES ('0', 24);
INSERT INTO public.effects VALUES ('0', 25);
INSERT INTO public.effects VALUES ('1', 10);
INSERT INTO public.effects VALUES ('1', 12);
INSERT INTO public.effects VALUES ('1', 13);
INSERT INTO public.effects VALUES ('1', 14);
INSERT INTO public.lease_owners VALUES ('orders', 'billing', 'b', 2949606602810565555, 7);
INSERT INTO public.lease_owners VALUES ('orders', 'billing', 'a', 11812434745342475567, 21);
INSERT INTO public.lease_owners VALUES ('orders', 'billing', 'a', 1221679502491538148, 2);
INSERT INTO public.lease_owners VALUES ('orders', 'billing', 'b', 13326483856923582806, 9);
INSERT INTO public.leases VALUES ('orders', 'billing', '3', 'a', 11812434745342475567, 1, 57);
INSERT INTO public.leases VALUES ('orders', 'billing', '1', 'a', 11812434745342475567, 4, 58);
INSERT INTO public.leases VALUES ('orders', 'billing', '0', 'a', 1221679502491538148, 5, 63);
INSERT INTO public.leases VALUES ('orders', 'billing', '2', 'b', 13326483856923582806, 2, 64);
SELECT pg_catalog.setval('public.lease_versions', 64, true);
ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (source, grp, part);
ALTER TABLE ONLY public.checkpoints
    ADD CONSTRAINT checkpoints_pkey PRIMARY KEY (source, grp, part);
ALTER TABLE ONLY public.dead_letters
    ADD CONSTRAINT dead_letters_pkey PRIMARY KEY (source, grp, part, sequence);
ALTER TABLE ONLY public.lease_owners
    ADD CONSTRAINT lease_owners_pkey PRIMARY KEY (source, grp, owner, incarnation);
ALTER TABLE ONLY public.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (source, grp, part);
