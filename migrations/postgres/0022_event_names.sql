-- An event name is any text of 1 to 256 characters; it was segments of letters, digits, _ and -, joined by dots.
-- Nothing else changes in this function.
create or replace function ringback.publish(
  event text,
  payload text,
  idempotency_key text default null,
  app text default null
) returns text
language plpgsql volatile security definer
set search_path = pg_catalog, ringback, pg_temp
as $$
#variable_conflict use_column
declare
  now_ms constant bigint := floor(extract(epoch from clock_timestamp()) * 1000);
  event_id constant text := ringback.make_id(now_ms);
  keep_ms constant bigint := 24 * 60 * 60 * 1000;
  -- In a function of its owner, current_user is the owner. A session can only set a role that it may take on.
  caller constant name := coalesce(nullif(current_setting('role'), 'none'), session_user);
  is_owner constant boolean := pg_has_role(caller, current_user, 'usage');
  app_no bigint;
  bytes bytea;
  key_hash bytea;
  print_hash bytea;
  earlier record;
begin
  if publish.event is null or length(publish.event) not between 1 and 256 then
    raise exception using errcode = 'invalid_parameter_value', message = format(
      'Cannot publish event %s: it is not an event name, expected 1 to 256 characters',
      coalesce('"' || left(publish.event, 256) || '"', 'null'));
  end if;
  if starts_with(publish.event, 'ringback.') then
    raise exception using errcode = 'invalid_parameter_value', message = format(
      'Cannot publish event "%s": it begins with "ringback.", which is reserved for events of '
      'Ringback itself', publish.event);
  end if;
  if publish.payload is null then
    raise exception using errcode = 'invalid_parameter_value', message = format(
      'Cannot publish event "%s": its payload is null, expected JSON; null in JSON is ''null''',
      publish.event);
  end if;
  bytes := convert_to(publish.payload, 'UTF8');
  if length(bytes) > 1048576 then
    raise exception using errcode = 'invalid_parameter_value', message = format(
      'Cannot publish event "%s": its payload has %s bytes, expected at most 1048576',
      publish.event, length(bytes));
  end if;
  begin
    perform publish.payload::json;
  exception when invalid_text_representation or statement_too_complex then
    raise exception using errcode = 'invalid_parameter_value', message = format(
      'Cannot publish event "%s": its payload is not valid JSON: %s', publish.event, sqlerrm);
  end;
  if publish.app is null and not is_owner then
    select granted.app into app_no from ringback.publisher as granted
      where granted.role = caller order by granted.no limit 1;
    if app_no is null then
      select granted.app into app_no from ringback.publisher as granted
        left join pg_roles on rolname = granted.role
        where granted.role = 'public' or pg_has_role(caller, pg_roles.oid, 'usage')
        order by granted.no limit 1;
    end if;
  else
    select no into app_no from ringback.app
      where name = coalesce(publish.app, 'default')
        or (id = substr(publish.app, 5) and starts_with(publish.app, 'app_'))
      order by name = publish.app limit 1; -- An id is unique; a name may look like one.
    if not is_owner and not exists (
      select from ringback.publisher as granted left join pg_roles on rolname = granted.role
      where granted.app = app_no
        and (granted.role = 'public' or pg_has_role(caller, pg_roles.oid, 'usage')))
    then
      app_no := null; -- Says the same as for an app that there is not.
    end if;
  end if;
  if app_no is null and is_owner then
    raise exception using errcode = 'invalid_parameter_value', message = format(
      'Cannot publish event "%s": there is no app "%s", expected its name or its id',
      publish.event, left(coalesce(publish.app, 'default'), 128));
  end if;
  if app_no is null then
    raise exception using errcode = 'insufficient_privilege', message = format(
      'Cannot publish event "%s": the role "%s" was not granted %s', publish.event, caller,
      coalesce('the app "' || left(publish.app, 128) || '"', 'any app')),
      hint = format('The owner of the schema grants it with: select ringback.grant_publish(%L, %L)',
        caller, left(coalesce(publish.app, 'default'), 128));
  end if;
  if publish.idempotency_key is not null then
    if length(publish.idempotency_key) not between 1 and 255 then
      raise exception using errcode = 'invalid_parameter_value', message = format(
        'Cannot publish event "%s": its idempotency key has %s characters, expected 1 to 255',
        publish.event, length(publish.idempotency_key));
    end if;
    key_hash := substr(sha256(
      sha256('sql.publish') || sha256(convert_to(publish.idempotency_key, 'UTF8'))), 1, 16);
    print_hash := sha256(sha256(convert_to(publish.event, 'UTF8')) || sha256(bytes));
    loop
      insert into ringback.idem as known (app, key, print, result, created_ms)
        values (app_no, key_hash, print_hash, event_id, now_ms)
        on conflict (app, key) do update
        set print = excluded.print, result = excluded.result, created_ms = excluded.created_ms
        where known.created_ms < excluded.created_ms - keep_ms;
      exit when found;
      select print, result into earlier from ringback.idem where app = app_no and key = key_hash;
      continue when not found; -- It was forgotten in between.
      if earlier.print = print_hash then
        return 'evt_' || earlier.result;
      end if;
      raise exception using errcode = 'invalid_parameter_value', message = format(
        'Cannot publish event "%s": its idempotency key was used for another event within the '
        'last 24 hours', publish.event);
    end loop;
  end if;
  insert into ringback.inbox (id, app, name, payload, created_ms)
    values (event_id, app_no, publish.event, bytes, now_ms);
  return 'evt_' || event_id;
end
$$;
