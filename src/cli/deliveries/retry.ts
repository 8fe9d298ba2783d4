// `ringback retry`: sends the named deliveries again. One that cannot be sent again does not stop
// the others.
import type { Client } from '../../client/client.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Invocation } from '../declare/command.ts';
import { calledWrongly, CliFailure } from '../terminal/failure.ts';
import { expectId } from '../service/id-kind.ts';
import { startProgress } from '../terminal/progress.ts';
import { readAll, sourceOf } from '../service/text-source.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { json, viewOf } from '../service/view.ts';
import { explained, withService } from '../service/with-service.ts';

export async function retry(call: Invocation, terminal: Terminal): Promise<void> {
  const ids = await readIds(call, terminal);
  const { items, end } = await withService(call, async ({ client, url }) => {
    using progress = startProgress('Sending again', terminal);
    const done: Retried[] = [];
    for (const id of ids) {
      const one = await retryOne(client, { id, url });
      done.push(one);
      if (one.error !== null && !isOfOne(one.error)) return { items: done, end: one.error };
      progress.show({ done: done.length, total: ids.length });
    }
    return { items: done, end: undefined };
  });
  const sent = items.filter(({ error }) => error === null);
  const failed = items.filter(({ error }) => error !== null);
  const untried = ids.slice(items.length);
  if (call.isJson) terminal.out(json({ items: [...items, ...untried.map(notTried)].map(shown) }));
  else terminal.out(sent.map(line(terminal)).join(''));
  if (end !== undefined) throw endFailure(end, { sent: sent.length, total: ids.length, untried });
  if (failed.length > 0) throw failure(failed, ids.length);
}

interface Retried {
  delivery: string;
  /** The id of the delivery that is sent now: the same, or its successor. */
  id: string | null;
  error: CliFailure | null;
}

async function retryOne(
  client: Client,
  { id, url }: { id: string; url: string },
): Promise<Retried> {
  try {
    return { delivery: id, id: (await client.deliveries.retry(id)).id, error: null };
  } catch (cause) {
    const error = explained(cause, url);
    if (!(error instanceof CliFailure)) throw cause;
    return { delivery: id, id: null, error };
  }
}

function notTried(delivery: string): Retried {
  return { delivery, id: null, error: new CliFailure('Not attempted.', { code: 'not_tried' }) };
}

/** Other errors concern all deliveries and end the run: a wrong key, or an unreachable service. */
function isOfOne({ status }: CliFailure): boolean {
  return status === 404 || status === 409;
}

async function readIds(call: Invocation, terminal: Terminal): Promise<string[]> {
  const isPiped = call.positionals.length === 1 && call.positionals[0] === '-';
  const given = isPiped ? await pipedWords(terminal) : call.positionals;
  const ids = [...new Set(given)].map((text) => expectId('dlv', text, 'retry'));
  if (ids.length === 0)
    throw calledWrongly('Cannot retry: no delivery given, expected one or more of dlv_…');
  if (ids.length <= limits.retriesAtOnceMax) return ids;
  throw calledWrongly(
    `Cannot retry ${ids.length} deliveries at once: expected at most ` +
      `${limits.retriesAtOnceMax}. Use ringback replay, which has no limit`,
  );
}

async function pipedWords(terminal: Terminal): Promise<string[]> {
  const bytes = await readAll(sourceOf('-', terminal), limits.inputBytesMax);
  return Buffer.from(bytes)
    .toString()
    .split(/\s+/)
    .filter((word) => word !== '');
}

function shown({ delivery, id, error }: Retried): Record<string, unknown> {
  const why =
    error === null ? null : { message: error.message, code: error.code, status: error.status };
  return { delivery, id, error: why };
}

function line(terminal: Terminal): (retried: Retried) => string {
  const { paint } = viewOf(terminal);
  return ({ delivery, id }) => {
    const successor = id === delivery || id === null ? '' : ` as ${id}`;
    return `${paint('green', 'Sent again')}  ${delivery}${successor}\n`;
  };
}

/** Reports what was sent before the failure, and lists what was not tried. */
function endFailure(
  end: CliFailure,
  { sent, total, untried }: { sent: number; total: number; untried: readonly string[] },
): CliFailure {
  if (total === 1) return end;
  const rest = untried.length === 0 ? [] : [' Not attempted:', ...untried.map((id) => `\n  ${id}`)];
  const { code, status } = end;
  return new CliFailure(`${end.message}\nSent again ${sent} of ${total}.${rest.join('')}`, {
    cause: end,
    code,
    status,
  });
}

function failure(failed: readonly Retried[], total: number): CliFailure {
  const reasons = failed.map(({ delivery, error }) => `  ${delivery}: ${error?.message ?? ''}`);
  const head = total === 1 ? 'Cannot retry:' : `Cannot retry ${failed.length} of ${total}:`;
  const { code, status } = failed[0]?.error ?? {};
  return new CliFailure([head, ...reasons].join('\n'), { code, status });
}
