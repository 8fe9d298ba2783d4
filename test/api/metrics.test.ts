// Metrics over HTTP: which keys may read them, their values after deliveries to real receivers, and that other
// programs can use them: a parser, promtool if installed, the dashboard and the alert rules.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parser } from '@prometheus-io/lezer-promql';
import { load } from 'js-yaml';
import { problems } from '../../src/core/errors/problem.ts';
import { receive } from '../e2e/receiver.ts';
import { inState, onlyDelivery, patch, publish, subscribe } from '../e2e/stage.ts';
import { start, type Started } from './harness.ts';

// The package has no type declarations.
const parsePrometheus = createRequire(import.meta.url)('parse-prometheus-text-format') as (
  text: string,
) => Parsed[];

const grafana = join(import.meta.dirname, '..', '..', 'docs', 'grafana');

describe('GET /metrics', () => {
  it('requires a key with the scope operator', async () => {
    await using service = await start();
    const body = { name: 'reader', scopes: ['read', 'admin'] };
    const { json } = await service.call({ method: 'POST', path: '/keys', body });
    const statuses = [];
    for (const key of [null, String(json['key']), service.key]) {
      statuses.push((await service.call({ path: '/metrics', key })).status);
    }
    assert.deepEqual(statuses, [401, 403, 200]);
  });

  it('needs no key if the operator allows that, and the document says so', async () => {
    await using service = await start({ env: { RINGBACK_METRICS: 'open' } });
    const { status, headers } = await service.call({ path: '/metrics', key: null });
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    const { json } = await service.call({ path: '/openapi.json', key: null });
    const { get } = (json as unknown as Shown).paths['/metrics'] ?? {};
    assert.deepEqual(get?.security, []);
  });

  it('is offered by a worker', async () => {
    await using service = await start({ role: 'worker' });
    const { status, text } = await service.call({ path: '/metrics' });
    assert.equal(status, 200);
    assert.match(text, /^ringback_node_info\{node=".*",role="worker"\} 1$/m);
    // Present before the first delivery, because the alert on the success rate compares it.
    assert.match(text, /^ringback_attempts_total\{outcome="delivered",error="none"\} 0$/m);
  });
});

describe('a scrape', () => {
  let folder: string;
  let service: Started;
  let scraped: Scrape;
  const secrets: string[] = [];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ringback-metrics-'));
    service = await start({ env: { RINGBACK_DATA: folder, RINGBACK_RETRY: '1h' } });
    secrets.push(...(await act(service)));
    scraped = readScrape((await service.call({ path: '/metrics' })).text);
  });
  after(async () => {
    await service[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  it('counts the work of this node', () => {
    const { value } = scraped;
    assert.equal(value('ringback_events_total'), 3);
    assert.equal(value('ringback_attempts_total', { outcome: 'delivered', error: 'none' }), 1);
    assert.equal(value('ringback_attempts_total', { outcome: 'retry', error: 'status' }), 1);
    assert.equal(value('ringback_attempt_duration_seconds_count'), 2);
    assert.equal(value('ringback_delivery_latency_seconds_count'), 1);
    const published = { operation: 'publishEvent' };
    assert.equal(value('ringback_requests_total', { ...published, status: '2xx' }), 3);
    assert.equal(value('ringback_requests_total', { ...published, status: '4xx' }), 1);
    assert.equal(value('ringback_refusals_total', { ...published, code: 'payload_refused' }), 1);
    assert.equal(value('ringback_requests_total', { operation: 'none', status: '4xx' }), 1);
    assert((value('ringback_store_batches_total', { kind: 'work', result: 'done' }) ?? 0) > 0);
    assert.equal(value('ringback_window_deliveries'), 0);
  });

  it('shows the deliveries of the cluster: waiting for a retry, or paused', () => {
    const { value } = scraped;
    assert.equal(value('ringback_store_up'), 1);
    assert.equal(value('ringback_cluster_deliveries', { state: 'waiting' }), 2);
    assert.equal(value('ringback_cluster_deliveries', { state: 'running' }), 0);
    assert.equal(value('ringback_cluster_deliveries_due'), 1, 'the paused one');
    assert.equal(value('ringback_cluster_deliveries_ended_total', { state: 'delivered' }), 1);
    assert((value('ringback_cluster_oldest_due_seconds') ?? 0) > 0, 'the paused one');
    assert.equal(value('ringback_cluster_oldest_ready_seconds'), 0, 'no delivery can be claimed');
    const pendingS = value('ringback_cluster_oldest_pending_seconds') ?? 0;
    assert(pendingS >= (value('ringback_cluster_oldest_due_seconds') ?? Infinity));
    assert.equal(value('ringback_cluster_lanes', { kind: 'held' }), 1);
    assert.equal(value('ringback_cluster_subscriptions', { state: 'paused' }), 1);
    assert.equal(value('ringback_cluster_nodes', { role: 'all' }), 1);
    assert((value('ringback_data_used_bytes') ?? 0) > 0);
    assert((value('ringback_data_free_bytes') ?? 0) > 0);
  });

  it('contains no app, subscription, event, URL or key', () => {
    assert.equal(secrets.length, 7);
    for (const secret of secrets) assert.equal(scraped.text.includes(secret), false, secret);
  });

  it('is text that other programs can parse', (t) => {
    const families = parsePrometheus(scraped.text);
    assert.deepEqual(
      families.map(({ name }) => name),
      [...scraped.types.keys()],
    );
    for (const { name, type, help } of families) {
      assert.match(name, /^(ringback|process|nodejs)_[a-z0-9_]+$/);
      assert.notEqual(help, '');
      assert.equal(type === 'COUNTER', name.endsWith('_total'), name);
    }
    promtool(t, ['check', 'metrics'], scraped.text);
  });

  describe('has all metrics that are used', () => {
    const dashboard: unknown = JSON.parse(readFileSync(join(grafana, 'ringback.json'), 'utf8'));
    const alertsFile = join(grafana, 'alerts.yaml');
    const { groups } = load(readFileSync(alertsFile, 'utf8')) as Alerts;
    const rules = groups.flatMap((group) => group.rules);

    it('by the dashboard', () => {
      const shown = textsIn(dashboard, 'expr');
      assert(shown.length > 40);
      for (const query of shown) holds(query.replaceAll('$__rate_interval', '5m'));
      const variables = textsIn(dashboard, 'definition').flatMap((text) => {
        const [, selector = ''] = /^label_values\((.*), \w+\)$/.exec(text) ?? [];
        return [selector];
      });
      assert.equal(variables.length, 2);
      for (const query of variables) holds(query);
    });

    it('by the alert rules, each of which says what to do', (t) => {
      assert(rules.length > 10);
      for (const { alert, expr, labels, annotations } of rules) {
        assert.match(alert, /^Ringback[A-Z]\w+$/);
        assert.match(labels.severity, /^(critical|warning|info)$/);
        assert(annotations.summary.length > 10 && annotations.description.length > 80, alert);
        holds(expr);
      }
      promtool(t, ['check', 'rules', alertsFile]);
    });

    it('by the page for operators, which names every metric', () => {
      const page = readFileSync(join(grafana, '..', 'operations.md'), 'utf8');
      const named = new Set(page.match(/\b(ringback|process|nodejs)_[a-z0-9_]+/g));
      for (const name of scraped.types.keys()) assert(named.has(name), `${name} is not explained`);
    });

    it('and no others: unknown names, labels and values fail', () => {
      assert.throws(() => holds('sum(rate(ringback_made_up_total[5m]))'), /made_up/);
      assert.throws(() => holds('ringback_cluster_nodes{rule="all"}'), /rule/);
      assert.throws(() => holds('ringback_cluster_nodes{role="both"}'), /both/);
      assert.throws(() => holds('ringback_refusals_total{code="made_up"}'), /made_up/);
      assert.throws(() => holds('sum(rate(ringback_events_total[5m])'), /cannot be read/);
    });
  });

  /** Asserts that a query is valid, and that its metrics, labels and label values are in the scrape. */
  function holds(query: string): void {
    for (const { name, matchers } of selectorsIn(query)) {
      if (name === 'up') continue; // Added by Prometheus itself.
      const samples = scraped.samples.get(name);
      assert(samples !== undefined && samples.length > 0, `${name} is not in the scrape: ${query}`);
      for (const { label, operator, value } of matchers) {
        if (label === 'job' || label === 'instance') continue; // Added by Prometheus, too.
        const values: string[] = samples.flatMap(({ labels }) => labels[label] ?? []);
        assert(values.length > 0, `${name} has no label ${label}: ${query}`);
        // This test does not cause every kind of refusal.
        const known = label === 'code' ? Object.keys(problems) : values;
        if (operator === '=') assert(known.includes(value), `no ${label}="${value}": ${query}`);
      }
    }
  }
});

/** Causes a delivered, a failed and a paused delivery, and refused requests; returns what metrics must not contain. */
async function act(service: Started): Promise<string[]> {
  await using good = await receive();
  await using bad = await receive(() => 500);
  const one = await subscribe(service, { callbackUrl: good.url, event: 'good' });
  const two = await subscribe(service, { callbackUrl: bad.url, event: 'bad' });
  const three = await subscribe(service, { callbackUrl: good.url, event: 'paused' });
  await patch(service, three.id, { state: 'paused' });
  const events = [];
  for (const event of ['good', 'bad', 'paused']) {
    events.push((await publish(service, event)).eventId);
  }
  const [delivered = '', failed = ''] = events;
  await inState(service, await onlyDelivery(service, { eventId: delivered }), 'delivered');
  await bad.answered(1);
  await inState(service, await onlyDelivery(service, { eventId: failed }), 'due');
  const body = { event: 'good', payload: {} };
  assert.equal((await service.call({ method: 'POST', path: '/events', body })).status, 422);
  assert.equal((await service.call({ path: '/nothing-here' })).status, 404);
  return [service.appId, service.key, one.id, two.id, delivered, good.url, String(bad.port)].map(
    (text) => text.replace(/^\w{3}_/, ''),
  );
}

interface Scrape {
  text: string;
  types: ReadonlyMap<string, string>;
  /** By the name in the line, including `…_bucket`. */
  samples: ReadonlyMap<string, readonly Line[]>;
  value: (name: string, labels?: Readonly<Record<string, string>>) => number | undefined;
}

interface Line {
  labels: Readonly<Record<string, string>>;
  value: number;
}

function readScrape(text: string): Scrape {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, a, b]) => [a, b]));
  const lines = [...text.matchAll(/^([a-z]\w*)(?:\{(.*)\})? (\S+)$/gm)];
  const samples = Map.groupBy(
    lines.map(([, name = '', pairs = '', value]) => {
      const labels = [...pairs.matchAll(/(\w+)="(.*?)"/g)].map(([, key, of]) => [key, of]);
      return { name, labels: Object.fromEntries(labels) as Line['labels'], value: Number(value) };
    }),
    ({ name }) => name,
  );
  const value: Scrape['value'] = (name, wanted = {}) =>
    samples
      .get(name)
      ?.find(({ labels }) => Object.entries(wanted).every(([key, of]) => labels[key] === of))
      ?.value;
  return { text, types: types as Map<string, string>, samples, value };
}

interface Selector {
  name: string;
  matchers: { label: string; operator: string; value: string }[];
}

/** The metrics of a query, by Prometheus' own grammar. */
function selectorsIn(query: string): Selector[] {
  const found: Selector[] = [];
  parser.parse(query).iterate({
    enter: ({ name, from, to, node, type }) => {
      assert(!type.isError, `${query} cannot be read at ${from}`);
      if (name !== 'VectorSelector') return;
      const metric = node.getChild('Identifier');
      assert(metric !== null, `${query} asks for no metric at ${from}`);
      const text = query.slice(from, to);
      const matchers = [...text.matchAll(/(\w+)\s*(=~|!=|!~|=)\s*"(.*?)"/g)].map(
        ([, label = '', operator = '', value = '']) => ({ label, operator, value }),
      );
      found.push({ name: query.slice(metric.from, metric.to), matchers });
    },
  });
  assert(found.length > 0, query);
  return found;
}

/** Every string under this name, at any depth. */
function textsIn(value: unknown, name: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]: [string, unknown]) =>
    key === name && typeof one === 'string' ? [one] : textsIn(one, name),
  );
}

interface Printer {
  diagnostic: (message: string) => void;
}

/** Runs Prometheus' own tool, if it is installed or `PROMTOOL` names it. */
function promtool(t: Printer, args: readonly string[], input = ''): void {
  const { error, status, stdout, stderr } = spawnSync(process.env['PROMTOOL'] ?? 'promtool', args, {
    input,
    encoding: 'utf8',
  });
  if (error !== undefined) {
    t.diagnostic(`skipped, because promtool is not available: ${error.message}`);
    return;
  }
  assert.equal(status, 0, `${stdout}${stderr}`);
}

interface Parsed {
  name: string;
  help: string;
  type: string;
}

interface Shown {
  paths: Record<string, { get?: { security?: unknown } } | undefined>;
}

interface Alerts {
  groups: { rules: Rule[] }[];
}

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; description: string };
}
