-- The role and the schema of Ringback, as in docs/operations.md#start-a-cluster: no node is a superuser. PostgreSQL's own
-- image runs this with psql, once, when it makes the database (compose.postgres.yaml).
\getenv password RINGBACK_DB_PASSWORD
create role ringback login password :'password';
create schema ringback authorization ringback;
