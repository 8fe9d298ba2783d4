// Handlers of the portal: links to it, its session, and its files. The page is the same for everyone; its data comes
// from the API, with the session of the customer. It may be shown in a frame, where browsers block cookies: so the token
// travels in a header.
import { printDuration, durationMs } from '../../core/base/parse-time.ts';
import { abilities, languages, themes, type PortalGrant } from '../../core/domain/session.ts';
import { Problem } from '../../core/errors/problem.ts';
import { limits } from '../../core/limits/limits.ts';
import { withPrefix } from '../../core/base/id.ts';
import { getApp } from '../../engine/access/apps.ts';
import type { Identifier } from '../../engine/access/identify.ts';
import { createPortalLink, openPortal } from '../../engine/access/portal-links.ts';
import { signOut } from '../../engine/access/sessions.ts';
import type { Context } from '../../engine/context.ts';
import type { ConsoleFile, ConsoleFiles } from '../console/files.ts';
import type { Call, Handlers, Reply } from '../request/call.ts';
import * as fields from '../request/fields.ts';
import { notBuilt } from './console.ts';
import { fileReply, forever, shieldHeaders } from './file-reply.ts';

/** How the portal looks, and which pages may show it in a frame. */
export interface PortalSettings {
  name: string | undefined;
  accent: string | undefined;
  logo: ConsoleFile | undefined;
  origins: readonly string[];
}

export interface PortalDeps {
  context: Context;
  identifier: Identifier;
  publicUrl: () => string;
  /** In front of the paths of the service itself. */
  prefix: string;
  /** Whether Ringback's own subscribe operation is served. */
  addsEndpoints: boolean;
  files: ConsoleFiles | undefined;
  settings: PortalSettings;
}

export function portalHandlers(deps: PortalDeps): Handlers {
  const { context, identifier, publicUrl, prefix } = deps;
  const show = async (grant: PortalGrant, appId: string): Promise<Record<string, unknown>> => {
    const { customer, can, theme, language, untilMs } = grant;
    const { name: appName } = await getApp(context, withPrefix('app', appId));
    return {
      appName,
      customer,
      can,
      expiresAt: fields.time(untilMs),
      theme,
      ...(language === undefined ? {} : { language }),
      addsEndpoints: deps.addsEndpoints,
      brand: brandOf(deps),
    };
  };
  return {
    createPortalLink: async (call) => {
      const { key, app, request } = call;
      if (key === undefined) throw new TypeError('expected a key');
      const { ticket, grant } = await createPortalLink(context, { key, app }, readLink(request));
      const { customer, can, untilMs } = grant;
      const url = `${publicUrl()}${prefix}/portal#ticket=${ticket}`;
      return { status: 201, body: { url, customer, can, expiresAt: fields.time(untilMs) } };
    },
    openPortal: async ({ app, request }) => {
      const ticket = fields.text(fields.bodyFields(request), 'ticket');
      const { session, grant, appId } = await openPortal(context, ticket, app.by);
      return { status: 201, body: { token: session.token, session: await show(grant, appId) } };
    },
    getPortalSession: async (call) => {
      const { grant, key } = opened(call);
      return { status: 200, body: await show(grant, key.appId) };
    },
    closePortal: async (call) => {
      await signOut(context, identifier, opened(call).session, call.app);
      return { status: 204 };
    },
    ...fileHandlers(deps),
  };
}

function fileHandlers({ files, settings, prefix }: PortalDeps): Handlers {
  const shield = shieldHeaders(settings.origins);
  const reply = (
    { request }: Pick<Call, 'request'>,
    file: ConsoleFile | undefined,
    caching: string,
  ): Reply => {
    if (file === undefined) throw new Problem('not_found', 'The portal has no such file');
    return fileReply(file, { request, caching, shield });
  };
  return {
    getPortal: async (call) =>
      files?.portal === undefined
        ? { ...notBuilt, headers: { ...notBuilt.headers, ...shield } }
        : reply(call, files.portal, 'no-cache'),
    getPortalFile: async (call) => {
      const name = fields.pathText(call.request, 'file');
      return reply(call, files?.assets.get(name), forever);
    },
    // Loaded by pages of any origin.
    getPortalEmbed: async (call) => {
      const { headers, ...rest } = reply(call, files?.embed, 'public, max-age=3600');
      return { ...rest, headers: { ...headers, 'cross-origin-resource-policy': 'cross-origin' } };
    },
    getPortalLogo: async (call) => {
      if (settings.logo === undefined) {
        const detail = `There is no ${prefix}/portal/logo: RINGBACK_PORTAL_LOGO is not set`;
        throw new Problem('not_found', detail);
      }
      const { headers, ...rest } = reply(call, settings.logo, 'public, max-age=3600');
      // An SVG that is opened by itself could run scripts in the origin of the service.
      const policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
      return { ...rest, headers: { ...headers, 'content-security-policy': policy } };
    },
  };
}

function brandOf({ settings, prefix }: PortalDeps): Record<string, unknown> {
  const { name, accent, logo } = settings;
  return {
    ...(name === undefined ? {} : { name }),
    ...(accent === undefined ? {} : { accent }),
    ...(logo === undefined ? {} : { logo: `${prefix}/portal/logo` }),
  };
}

function readLink(request: Call['request']): Parameters<typeof createPortalLink>[2] {
  const body = fields.bodyFields(request);
  const asked = 'can' in body ? fields.list(body, 'can') : abilities;
  const text = fields.optionalText(body, 'expiresIn');
  const lastsMs = text === undefined ? limits.portalMs : durationMs(text);
  if (lastsMs === undefined || lastsMs < limits.portalMinMs || lastsMs > limits.portalMaxMs) {
    const [least, most] = [limits.portalMinMs, limits.portalMaxMs].map(printDuration);
    const message = `is ${JSON.stringify(text)}, expected a duration from ${least} to ${most}, such as 8h`;
    throw fields.badField('body#/expiresIn', message);
  }
  const theme = fields.optionalText(body, 'theme');
  const language = fields.optionalText(body, 'language');
  return {
    customer: fields.text(body, 'customer'),
    can: abilities.filter((ability) => ability === 'view' || asked.includes(ability)),
    theme: themes.find((one) => one === theme) ?? 'system',
    language: languages.find((one) => one === language),
    lastsMs,
  };
}

/** The contract admits portal sessions only. */
function opened({ key, session }: Call): {
  key: NonNullable<Call['key']>;
  session: NonNullable<Call['session']>;
  grant: PortalGrant;
} {
  const grant = session?.portal;
  if (key === undefined || session === undefined || grant === undefined) {
    throw new TypeError('expected a portal session');
  }
  return { key, session, grant };
}
