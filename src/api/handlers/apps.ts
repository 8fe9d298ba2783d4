// Handlers of apps, for operators.
import type { App } from '../../core/app.ts';
import { withPrefix } from '../../core/id.ts';
import { createApp, getApp, listApps } from '../../engine/apps.ts';
import type { Context } from '../../engine/context.ts';
import type { Handlers } from '../call.ts';
import * as fields from '../fields.ts';

export function appHandlers(context: Context): Handlers {
  return {
    listApps: async ({ request }) => {
      const page = await listApps(context, fields.pageInput(request));
      const items = page.items.map(showApp);
      return { status: 200, body: { items, nextCursor: page.next ?? null } };
    },
    createApp: async ({ request }) => {
      const name = fields.text(fields.bodyFields(request), 'name');
      const { app, secret } = await createApp(context, name);
      return { status: 201, body: { ...showApp(app), key: secret } };
    },
    getApp: async ({ request }) => {
      const app = await getApp(context, fields.pathText(request, 'id'));
      return { status: 200, body: showApp(app) };
    },
  };
}

function showApp({ id, name, createdMs }: App): Record<string, unknown> {
  return { id: withPrefix('app', id), name, createdAt: fields.time(createdMs) };
}
