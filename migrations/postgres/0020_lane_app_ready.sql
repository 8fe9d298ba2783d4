-- A claim goes through ready lanes app by app where one app has very many of them.
create index lane_app_ready on lane (app, ready_ms, no) where ready_ms < 9007199254740991;
