// Reads the nodes that are alive.
import type { Node } from '../port/node-verbs.ts';
import type { Row } from '../sql/row.ts';
import { integer, oneOf, text } from '../sql/row.ts';
import { all } from '../sql/statement.ts';
import type { Read } from './shared/verb.ts';

export const nodesSql = {
  list: `
    select no, name, role, version, started_ms, seen_ms from node where gone = 0 order by no`,
} as const;

export const nodes: Read<'nodes'> = function* () {
  return (yield* all(nodesSql.list)).map(toNode);
};

const nodeRoles = ['api', 'worker', 'all'] as const;

function toNode(row: Row): Node {
  return {
    no: integer(row, 'no'),
    name: text(row, 'name'),
    role: oneOf(nodeRoles, text(row, 'role')),
    version: text(row, 'version'),
    startedMs: integer(row, 'started_ms'),
    seenMs: integer(row, 'seen_ms'),
  };
}
