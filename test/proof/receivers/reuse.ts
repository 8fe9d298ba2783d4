// Checks which connections to receivers are reused: none after an unusual response, and none for another app. Uses real
// sockets in this process. For controls, it also runs as a program that prints its finding.
import { answering, makeSender, ok, post, startReceiver } from '../../egress/receiver.ts';
import { reuseCases } from '../../egress/reuse-cases.ts';
import type { Finding } from '../finding.ts';

const requests = 3;
const apps = [1, 2, 1, 2, 3];

export async function reuse(): Promise<Finding> {
  const violations: string[] = [];
  for (const { what, answer, isKept } of reuseCases) {
    const used = await connectionsFor(answer, Array<number>(requests).fill(1));
    const expected = isKept ? 1 : requests;
    if (used === expected) continue;
    violations.push(`reuse: after ${what}, ${used} connections for ${requests} requests`);
  }
  const shared = await connectionsFor(ok(), apps);
  const expected = new Set(apps).size;
  if (shared !== expected) {
    violations.push(`reuse: ${expected} apps at one host had ${shared} connections`);
  }
  const figures = {
    answers: reuseCases.length,
    requests: reuseCases.length * requests + apps.length,
  };
  return { part: 'connections that are used again', figures, violations };
}

/** Sends one request after the other, each for its app; returns the number of connections. */
async function connectionsFor(answer: string, by: readonly number[]): Promise<number> {
  const receiver = await startReceiver(answering(answer));
  const sender = makeSender();
  for (const app of by) await sender.send(post(receiver.url, { app, timeoutMs: 60_000 }));
  await sender.close();
  await receiver.stop();
  return receiver.seen.accepted;
}

if (process.argv[1] === import.meta.filename) {
  process.stdout.write(JSON.stringify(await reuse()), () => process.exit());
}
