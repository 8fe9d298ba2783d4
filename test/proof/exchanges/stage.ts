// A gateway, the API behind it and a receiver, all to be killed while a client starts jobs. In the end the API publishes
// to each job that it accepted, and every callback must arrive; nothing may arrive for a job that it did not accept.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Child } from '../../cli/ringback-process.ts';
import { header, receive } from '../../e2e/receiver.ts';
import { until } from '../../e2e/stage.ts';
import { auth, patiently, settled } from '../faults/node.ts';
import { startApi, type Api, type Decision, type Job } from './api.ts';

/** The process of a gateway. */
export interface Gateway extends Child {
  url: string;
}

export interface StageOptions {
  /** A folder for its files. */
  scratch: string;
  /** Starts a gateway with these settings, on the data of the one before it. */
  start: (settings: Readonly<Record<string, string>>) => Promise<Gateway>;
  /** The store fails, so subscriptions may be confirmed so long after the answer. */
  confirmWithinMs?: number;
}

export interface ExchangeStage extends AsyncDisposable {
  api: Api;
  scratch: string;
  violations: string[];
  /** The gateway: started if there is none, or if settings are given. */
  gateway: (settings?: Readonly<Record<string, string>>) => Promise<Gateway>;
  /** Kills the gateway with SIGKILL; the next use starts another. */
  kill: () => Promise<void>;
  /** Starts a job at the gateway; undefined if there was no answer. */
  send: (isAcceptable: boolean) => Promise<number | undefined>;
  /** Starts jobs until the API gets one. */
  insist: (isAcceptable: boolean) => Promise<void>;
  /** Publishes for all jobs, and adds what is wrong to the violations. */
  judge: () => Promise<Verdict>;
}

export interface Verdict {
  jobs: number;
  accepted: number;
  /** Accepted, but the client got no answer. */
  unanswered: number;
  /** Accepted and answered, but not confirmed. */
  unconfirmed: number;
  refused: number;
  /** Never decided on. */
  undecided: number;
  callbacks: number;
  missing: number;
}

interface Sent {
  job: string;
  status: number | undefined;
  /** As the answer names it. */
  subscription: string | null;
}

const document = {
  openapi: '3.1.0',
  info: { title: 'Printing', version: '1' },
  paths: {
    '/jobs': {
      post: {
        operationId: 'startJob',
        'x-ringback-subject': '$response.body#/jobId',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { type: 'object' } } },
        },
        responses: { 201: { description: 'The job' } },
        callbacks: {
          onDone: { '{$request.body#/callbackUrl}': { post: { responses: {} } } },
        },
      },
    },
  },
};

const againMs = 20;

export async function setExchangeStage(options: StageOptions): Promise<ExchangeStage> {
  const { scratch, start, confirmWithinMs = 0 } = options;
  await using cleanup = new AsyncDisposableStack();
  const contract = join(scratch, 'api.json');
  writeFileSync(contract, JSON.stringify(document));
  const api = cleanup.use(await startApi(join(scratch, 'decisions')));
  const receiver = cleanup.use(await receive());
  const jobs: Sent[] = [];
  const violations: string[] = [];
  let running: Gateway | undefined;

  const kill = async (): Promise<void> => {
    const killed = running;
    running = undefined;
    killed?.signal('SIGKILL');
    await killed?.ended;
  };
  const gateway: ExchangeStage['gateway'] = async (settings) => {
    if (settings !== undefined) await kill();
    running ??= await start({
      RINGBACK_CONTRACT: contract,
      RINGBACK_UPSTREAM: api.url,
      RINGBACK_RETRY: Array.from({ length: 20 }, () => '200ms').join(','),
      ...settings,
    });
    return running;
  };
  cleanup.defer(kill);

  const publish = async (body: object, repeatKey: string): Promise<Published> => {
    const { url } = await gateway();
    const response = await patiently(
      async () =>
        fetch(`${url}/ringback/events`, {
          method: 'POST',
          headers: { ...auth, 'idempotency-key': repeatKey },
          body: JSON.stringify({ event: 'onDone', payload: { done: true }, ...body }),
        }),
      202,
    );
    return (await response.json()) as Published;
  };

  const isActive = async (subscriberId: string, untilMs: number): Promise<boolean> => {
    const { url } = await gateway();
    const look = async (): Promise<Response> =>
      fetch(`${url}/ringback/subscriptions/${subscriberId}`, { headers: auth });
    for (;;) {
      const { state } = (await (await patiently(look, 200)).json()) as { state: string };
      if (state === 'active' || performance.now() >= untilMs) return state === 'active';
      await wait(againMs);
    }
  };

  /** Publishes to one accepted job: by the id that the API was told, and once its subject is known, by that alone. */
  const publishTo = async (
    { job }: Sent,
    { subscriberId }: Decision,
    isConfirmed: boolean,
  ): Promise<string[]> => {
    const events: string[] = [];
    const [byId, bySubject] = [{ subscriberId, subject: job }, { subject: job }];
    const ways = isConfirmed ? [bySubject, { subscriberId }] : [byId, bySubject];
    for (const way of ways) {
      const named = JSON.stringify(way);
      try {
        const { eventId, deliveries } = await publish(way, `${job} ${named}`);
        events.push(eventId);
        if (deliveries !== 1)
          lose(`${job} was accepted, but ${named} has ${deliveries} deliveries`);
      } catch (error) {
        lose(`${job} was accepted, but ${named} cannot be published to: ${String(error)}`);
      }
    }
    return events;
  };
  const lose = (flaw: string): void => void violations.push(`I19: ${flaw}`);

  const judge = async (): Promise<Verdict> => {
    await api.idle();
    const untilMs = performance.now() + confirmWithinMs;
    const decisions = api.decisions();
    const expected = new Map<string, string[]>();
    const verdict = {
      jobs: jobs.length,
      accepted: 0,
      unanswered: 0,
      unconfirmed: 0,
      refused: 0,
      undecided: 0,
    };
    for (const one of jobs) {
      const { job, status, subscription } = one;
      const decision = decisions.get(job);
      if (decision === undefined) verdict.undecided += 1;
      else if (!decision.isAccepted) verdict.refused += 1;
      if (status === 201 && subscription !== decision?.subscriberId) {
        violations.push(`I19: ${job}: the client was told ${subscription}, not what the API was`);
      }
      if (decision?.isAccepted !== true) continue;
      verdict.accepted += 1;
      const isConfirmed = status === 201 && (await isActive(decision.subscriberId, untilMs));
      if (status !== 201) verdict.unanswered += 1;
      else if (!isConfirmed) verdict.unconfirmed += 1;
      expected.set(job, await publishTo(one, decision, isConfirmed));
    }
    if (verdict.unconfirmed > 0) {
      lose(`${verdict.unconfirmed} jobs were accepted and answered, but never confirmed`);
    }
    const all = await publish({ audience: 'all' }, 'all');
    const { url } = await gateway();
    if (all.deliveries === null) {
      // So many callbacks match that they are found after the answer.
      const calls = async (): Promise<number> =>
        receiver.requests.filter((one) => header(one, 'webhook-id') === all.eventId).length;
      await until(calls, (count) => count >= expected.size);
    }
    await settled({ url: `${url}/ringback` });
    const came = new Map<string, Set<string>>();
    for (const request of receiver.requests) {
      const job = request.url.slice(1);
      const events = came.get(job) ?? new Set();
      came.set(job, events.add(header(request, 'webhook-id')));
    }
    let missing = 0;
    for (const [job, events] of expected) {
      const lost = [...events, all.eventId].filter((id) => came.get(job)?.has(id) !== true);
      missing += lost.length;
      if (lost.length > 0) lose(`${job} was accepted, but ${lost.join(', ')} never came`);
    }
    for (const job of came.keys()) {
      if (!expected.has(job)) violations.push(`I19: ${job} was not accepted, but it was called`);
    }
    return { ...verdict, callbacks: receiver.requests.length, missing };
  };

  const host = `http://127.0.0.1:${receiver.port}`;
  const stage = cleanup.move();
  const send: ExchangeStage['send'] = async (isAcceptable) => {
    const { url } = await gateway();
    const job = `job_${jobs.length + 1}`;
    const body: Job = { job, isAcceptable, callbackUrl: `${host}/${job}` };
    const sent: Sent = { job, status: undefined, subscription: null };
    jobs.push(sent);
    const headers = { 'content-type': 'application/json', connection: 'close' };
    const asking = fetch(`${url}/jobs`, { method: 'POST', headers, body: JSON.stringify(body) });
    const response = await asking.catch(() => undefined);
    if (response === undefined) return undefined;
    const read = await response.arrayBuffer().catch(() => undefined);
    if (read === undefined) return undefined;
    sent.subscription = response.headers.get('ringback-subscription');
    sent.status = response.status;
    return sent.status;
  };

  return {
    api,
    scratch,
    violations,
    gateway,
    kill,
    send,
    insist: async (isAcceptable) => {
      while ((await send(isAcceptable)) === 503) await wait(againMs);
    },
    judge,
    [Symbol.asyncDispose]: async () => stage.disposeAsync(),
  };
}

interface Published {
  eventId: string;
  /** Null: not known yet. */
  deliveries: number | null;
}
