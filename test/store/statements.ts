// Collects every statement of the store by name: all exports of a folder named `…Sql`.
import { strict as assert } from 'node:assert';
import { readdirSync } from 'node:fs';

export interface Named {
  /** `keys.byId` is `byId` of `keysSql`. */
  name: string;
  sql: string;
}

/** Tests and thread entry points. */
const skipped = /\.test\.ts$|\/(?:backup-worker|read-thread|write-thread)\.ts$/;

export async function statementsIn(folder: 'verbs' | 'sqlite' | 'postgres'): Promise<Named[]> {
  const dir = new URL(`../../src/store/${folder}/`, import.meta.url);
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !skipped.test(file),
  );
  const found: Named[] = [];
  for (const file of files) {
    const module: object = await import(new URL(file, dir).href);
    for (const [name, table] of Object.entries(module)) {
      if (!name.endsWith('Sql')) continue;
      const sqls: unknown = table;
      assert(typeof sqls === 'object' && sqls !== null, `${file}: ${name} is no table`);
      for (const [key, sql] of Object.entries<unknown>({ ...sqls })) {
        assert(typeof sql === 'string', `${file}: ${name}.${key} is no text`);
        found.push({ name: `${name.slice(0, -'Sql'.length)}.${key}`, sql });
      }
    }
  }
  return found;
}
