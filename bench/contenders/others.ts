// The alternatives to Ringback that a user would consider, each in its own process with the same
// HTTP interface.
import { join } from 'node:path';
import { startChild } from '../harness/child-process.ts';
import type { Contender, Start } from './contender.ts';
import { bodiesFor } from './ringback.ts';

export async function startForwarder(ports: readonly number[]): Promise<Contender> {
  return startOther({ name: 'bare forwarder', file: 'forwarder.ts', start: { ports, url: '' } });
}

export async function startPgBoss(ports: readonly number[], url: string): Promise<Contender> {
  return startOther({ name: 'pg-boss', file: 'pg-boss.ts', start: { ports, url } });
}

export async function startBullMq(ports: readonly number[], url: string): Promise<Contender> {
  return startOther({ name: 'BullMQ', file: 'bullmq.ts', start: { ports, url } });
}

async function startOther(other: { name: string; file: string; start: Start }): Promise<Contender> {
  const program = startChild<Start, { port: number }>(join(import.meta.dirname, other.file));
  const { port } = await program.ask(other.start);
  const headers = { 'content-type': 'application/json' };
  const bodies = bodiesFor(other.start.ports);
  return {
    name: other.name,
    publish: { port, path: '/events', headers, bodies },
    pids: [program.pid],
    [Symbol.asyncDispose]: async () => program[Symbol.asyncDispose](),
  };
}
