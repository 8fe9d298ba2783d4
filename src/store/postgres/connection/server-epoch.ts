// Identifies the life of the server that a connection belongs to. A crash or a failover begins a
// new life, in which transaction ids of the last one may be reused.
import type { Client } from 'pg';
import { one, text } from '../../sql/row.ts';
import type { Tx } from './tx.ts';
import { txOn } from './tx.ts';

export const lifeSql = {
  read: 'select id from life where no = 1',
  begin: `
    insert into life (no, id) values (1, gen_random_uuid()::text) on conflict (no) do nothing`,
} as const;

const lives = new WeakMap<Client, string>();

/** Read once per connection: no connection outlives the life that it began in. */
export async function lifeOn(client: Client): Promise<string> {
  const life = lives.get(client) ?? (await readLife(txOn(client)));
  lives.set(client, life);
  return life;
}

/** The first reader in a new life creates its id. */
export async function readLife(tx: Tx): Promise<string> {
  const [known] = await tx.query(lifeSql.read, []);
  if (known !== undefined) return text(known, 'id');
  await tx.query(lifeSql.begin, []);
  const [begun] = await tx.query(lifeSql.read, []);
  return text(one(begun), 'id');
}
