// Handlers for apps; they need the operator scope.
import type { App } from '../../core/domain/app.ts';
import { withPrefix } from '../../core/base/id.ts';
import { createApp, editApp, getApp, listApps } from '../../engine/access/apps.ts';
import type { Context } from '../../engine/context.ts';
import type { QuotaEdits } from '../../store/port/store.ts';
import type { Handlers } from '../request/call.ts';
import * as fields from '../request/fields.ts';

export function appHandlers(context: Context): Handlers {
  return {
    listApps: async ({ request }) => {
      const page = await listApps(context, fields.pageInput(request));
      const items = page.items.map(showApp);
      return { status: 200, body: { items, nextCursor: page.next ?? null } };
    },
    createApp: async ({ app: by, request }) => {
      const name = fields.text(fields.bodyFields(request), 'name');
      const { app, secret } = await createApp(context, name, by);
      return { status: 201, body: { ...showApp(app), key: secret } };
    },
    getApp: async ({ request }) => {
      const app = await getApp(context, fields.pathText(request, 'id'));
      return { status: 200, body: showApp(app) };
    },
    editApp: async ({ app: by, request }) => {
      const body = fields.bodyFields(request);
      const edit = {
        name: fields.optionalText(body, 'name'),
        quotas: quotaEdits(fields.object(body['quotas'] ?? {}, 'quotas')),
      };
      const app = await editApp(context, fields.pathText(request, 'id'), edit, by);
      return { status: 200, body: showApp(app) };
    },
  };
}

/** Absent: unchanged. Null: back to the default for all apps. */
function quotaEdits(given: fields.Fields): QuotaEdits {
  const named = (['subscriptions', 'eventsPerSecond', 'payloadBytes'] as const).filter(
    (name) => given[name] !== undefined,
  );
  return Object.fromEntries(
    named.map((name) => [name, given[name] === null ? null : fields.integer(given, name)]),
  );
}

function showApp({ id, name, createdMs, quotas, subscriptions }: App): Record<string, unknown> {
  return {
    id: withPrefix('app', id),
    name,
    createdAt: fields.time(createdMs),
    subscriptions,
    quotas: {
      subscriptions: quotas.subscriptions ?? null,
      eventsPerSecond: quotas.eventsPerSecond ?? null,
      payloadBytes: quotas.payloadBytes ?? null,
    },
  };
}
