-- Creates the role and the schema of Ringback, as in docs/operations.md#start-a-cluster, so that no node is a superuser.
-- The PostgreSQL image runs this with psql once, when it creates the database (compose.postgres.yaml).
\getenv password RINGBACK_DB_PASSWORD
create role ringback login password :'password';
create schema ringback authorization ringback;
