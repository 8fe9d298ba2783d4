// Named statements: the server parses and plans each one once per connection.
import { createHash } from 'node:crypto';

export interface NamedStatement {
  name: string;
  text: string;
}

/**
 * The same text has the same name in every process, because behind a pooler two nodes may share a
 * connection. Every text is cached, so texts must be constants of the program.
 */
export function statement(sql: string): NamedStatement {
  const known = statements.get(sql);
  if (known !== undefined) return known;
  const hash = createHash('sha256').update(sql).digest('hex').slice(0, 16);
  const made = { name: `rb_${hash}`, text: sql };
  statements.set(sql, made);
  return made;
}

const statements = new Map<string, NamedStatement>();
