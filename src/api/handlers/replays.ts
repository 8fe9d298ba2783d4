// Handlers of replays: count (dry run), start, list, show, cancel.
import { endedStates } from '../../core/domain/delivery.ts';
import { withPrefix } from '../../core/base/id.ts';
import { limits } from '../../core/limits/limits.ts';
import { progressOf, type Replay, type ReplayFilter } from '../../core/domain/replay.ts';
import type { Context } from '../../engine/context.ts';
import {
  cancelReplay,
  countReplayable,
  createReplay,
  getReplay,
  listReplays,
  type ReplayInput,
} from '../../engine/read/replays.ts';
import type { Call, Handlers } from '../request/call.ts';
import * as fields from '../request/fields.ts';

export function replayHandlers(context: Context, prefix: string): Handlers {
  return {
    createReplay: async (call) => {
      const body = fields.bodyFields(call.request);
      const input = readReplayInput(call, body);
      if (body['dryRun'] === true) {
        return { status: 200, body: await countReplayable(context, call.app, input.filter) };
      }
      const replay = await createReplay(context, call.app, input);
      const id = withPrefix('rpl', replay.id);
      call.note({ did: 'replay started', replay: id }); // Not for a dry run.
      const headers = { location: `${prefix}/replays/${id}` };
      return { status: 201, headers, body: showReplay(replay) };
    },
    listReplays: async ({ app, request }) => {
      const page = await listReplays(context, app, fields.pageInput(request));
      const items = page.items.map(showReplay);
      return { status: 200, body: { items, nextCursor: page.next ?? null } };
    },
    getReplay: async ({ app, request }) => {
      const replay = await getReplay(context, app, fields.pathText(request, 'id'));
      return { status: 200, body: showReplay(replay) };
    },
    cancelReplay: async ({ app, request }) => {
      const replay = await cancelReplay(context, app, fields.pathText(request, 'id'));
      return { status: 200, body: showReplay(replay) };
    },
  };
}

function readReplayInput({ request, bytes }: Call, body: fields.Fields): ReplayInput {
  const filter = fields.object(body['filter'] ?? {}, 'filter');
  const state = fields.optionalText(filter, 'state');
  const key = request.header.get('idempotency-key');
  return {
    filter: {
      state: endedStates.find((one) => one === state) ?? 'dead',
      event: fields.optionalText(filter, 'event'),
      subject: fields.optionalText(filter, 'subject'),
      customer: fields.optionalText(filter, 'customer'),
      subscriberId: fields.optionalText(filter, 'subscriberId'),
      status: fields.optionalText(filter, 'status'),
      error: fields.optionalText(filter, 'error'),
      fromMs: fields.optionalInstant(filter, 'from', 'body#/filter/from'),
      untilMs: fields.optionalInstant(filter, 'until', 'body#/filter/until'),
    },
    ratePerSecond: fields.optionalInteger(body, 'ratePerSecond') ?? limits.replayRateDefault,
    idempotency: key === undefined ? undefined : { key, operation: 'createReplay', parts: [bytes] },
  };
}

export function showReplay(replay: Replay): Record<string, unknown> {
  const { id, state, filter, ratePerSecond, matched, replayed, skipped } = replay;
  const { createdMs, endedMs } = replay;
  return {
    id: withPrefix('rpl', id),
    state,
    filter: showFilter(filter, createdMs),
    ratePerSecond,
    matched,
    replayed,
    skipped,
    progress: progressOf(replay),
    createdAt: fields.time(createdMs),
    ...(endedMs === undefined ? {} : { endedAt: fields.time(endedMs) }),
  };
}

function showFilter(filter: ReplayFilter, createdMs: number): Record<string, unknown> {
  const { state, event, subject, customer, subscription, status, error, fromMs, untilMs } = filter;
  return {
    state,
    ...(event === undefined ? {} : { event }),
    ...(subject === undefined ? {} : { subject }),
    ...(customer === undefined ? {} : { customer }),
    ...(subscription === undefined ? {} : { subscriberId: withPrefix('sub', subscription) }),
    ...(status === undefined ? {} : { status }),
    ...(error === undefined ? {} : { error }),
    ...(fromMs === undefined ? {} : { from: fields.time(fromMs) }),
    until: fields.time(untilMs ?? createdMs),
  };
}
