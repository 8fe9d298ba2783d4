-- ringback.publish names the subject and the customer of an event, as POST /events does.
alter table inbox add column subject text collate "C";
alter table inbox add constraint inbox_subject_check check (subject <> '') not valid;
alter table inbox add column customer text collate "C";
alter table inbox add constraint inbox_customer_check check (customer <> '') not valid;

-- As in 0022, and: subject and customer. Other arguments make another function, so the earlier ones are replaced below.
-- They cannot stay: a call without the new arguments would fit both.
create function ringback.publish(
  event text,
  payload text,
  idempotency_key text default null,
  app text default null,
  subject text default null,
  customer text default null
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
  if length(publish.subject) not between 1 and 256 then
    raise exception using errcode = 'invalid_parameter_value', message = format(
      'Cannot publish event "%s": its subject has %s characters, expected 1 to 256',
      publish.event, length(publish.subject));
  end if;
  if length(publish.customer) not between 1 and 128 then
    raise exception using errcode = 'invalid_parameter_value', message = format(
      'Cannot publish event "%s": its customer has %s characters, expected 1 to 128',
      publish.event, length(publish.customer));
  end if;
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
    -- Without both as before, so that a repetition from before this migration is known. With one, the other counts as
    -- empty, which neither can be: the same name as a subject and as a customer must differ.
    print_hash := sha256(sha256(convert_to(publish.event, 'UTF8')) || sha256(bytes)
      || case when coalesce(publish.subject, publish.customer) is null then ''
        else sha256(convert_to(coalesce(publish.subject, ''), 'UTF8'))
          || sha256(convert_to(coalesce(publish.customer, ''), 'UTF8')) end);
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
  insert into ringback.inbox (id, app, name, subject, customer, payload, created_ms)
    values (event_id, app_no, publish.event, publish.subject, publish.customer, bytes, now_ms);
  return 'evt_' || event_id;
end
$$;

create function ringback.publish(
  event text,
  payload jsonb,
  idempotency_key text default null,
  app text default null,
  subject text default null,
  customer text default null
) returns text
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select ringback.publish(event, payload::text, idempotency_key, app, subject, customer)
$$;

create function ringback.publish(
  event text,
  payload json,
  idempotency_key text default null,
  app text default null,
  subject text default null,
  customer text default null
) returns text
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select ringback.publish(event, payload::text, idempotency_key, app, subject, customer)
$$;

-- Everybody may execute a new function. Only those may who could execute its predecessor.
revoke all on function ringback.publish(text, text, text, text, text, text),
  ringback.publish(text, json, text, text, text, text), ringback.publish(text, jsonb, text, text, text, text)
  from public;
do $$
declare
  granted record;
begin
  for granted in
    select format_type(proargtypes[1], null) as payload,
      case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end as role,
      case when is_grantable then ' with grant option' else '' end as onwards
    from pg_proc cross join lateral aclexplode(proacl)
    where pronamespace = 'ringback'::regnamespace and proname = 'publish' and pronargs = 4
      and privilege_type = 'EXECUTE' and grantee <> proowner
  loop
    execute format('grant execute on function ringback.publish(text, %s, text, text, text, text) to %s%s',
      granted.payload, granted.role, granted.onwards);
  end loop;
end
$$;
drop function ringback.publish(text, text, text, text);
drop function ringback.publish(text, json, text, text);
drop function ringback.publish(text, jsonb, text, text);

-- As in 0019, with the functions of this migration.
--
-- Lets a role publish into an app, and gives it the rights to call all forms of ringback.publish. For the owner of
-- the schema: it runs with the rights of its caller.
create or replace function ringback.grant_publish(role name, app text default 'default') returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  app_no bigint;
begin
  select no into app_no from ringback.app as known
    where known.name = grant_publish.app or 'app_' || known.id = grant_publish.app
    order by known.name = grant_publish.app limit 1;
  if app_no is null then
    raise exception using errcode = 'invalid_parameter_value', message = format(
      'Cannot grant the app "%s": there is none, expected its name or its id', grant_publish.app);
  end if;
  execute format('grant usage on schema ringback to %I', grant_publish.role);
  execute format('grant execute on function ringback.publish(text, text, text, text, text, text), '
    'ringback.publish(text, json, text, text, text, text), '
    'ringback.publish(text, jsonb, text, text, text, text) to %I', grant_publish.role);
  insert into ringback.publisher (role, app) values (grant_publish.role, app_no)
    on conflict do nothing;
end
$$;

-- Takes an app away from a role, or all of them. With the last one go the rights to call ringback.publish.
create or replace function ringback.revoke_publish(role name, app text default null) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from ringback.publisher as granted using ringback.app as known
    where granted.role = revoke_publish.role and known.no = granted.app
      and (revoke_publish.app is null or known.name = revoke_publish.app
        or 'app_' || known.id = revoke_publish.app);
  if exists (select from ringback.publisher as left_over where left_over.role = revoke_publish.role)
  then
    return;
  end if;
  if revoke_publish.role = 'public'
    or exists (select from pg_roles where rolname = revoke_publish.role)
  then
    execute format('revoke execute on function ringback.publish(text, text, text, text, text, text), '
      'ringback.publish(text, json, text, text, text, text), '
      'ringback.publish(text, jsonb, text, text, text, text) from %I', revoke_publish.role);
  end if;
end
$$;
