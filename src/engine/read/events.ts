// Listing and reading events.
import type { App } from '../../core/domain/app.ts';
import type { Event } from '../../core/domain/event.ts';
import { withoutPrefix } from '../../core/base/id.ts';
import { Problem } from '../../core/errors/problem.ts';
import type { EventFilter } from '../../store/port/delivery-verbs.ts';
import type { Page, PageInput } from '../../store/port/store.ts';
import type { Context } from '../context.ts';

type Owner = Pick<App, 'no'>;

export async function listEvents(
  { store }: Context,
  app: Owner,
  query: EventFilter & { page: PageInput },
): Promise<Page<Event>> {
  return store.read('events', { appNo: app.no, ...query });
}

export async function getEvent({ store }: Context, app: Owner, id: string): Promise<Event> {
  const bare = withoutPrefix('evt', id);
  const found =
    bare === undefined ? undefined : await store.read('event', { appNo: app.no, id: bare });
  if (found !== undefined) return found;
  throw new Problem('not_found', `There is no event ${JSON.stringify(id)}`);
}
