// Changes the product's source while it is loaded, for a process that a control breaks on purpose: the product
// itself has no switch for this. Preloaded with --import, in worker threads too.
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

export interface SourceChange {
  /** Relative to the root of the checkout. */
  file: string;
  /** Must occur exactly once. */
  find: string;
  replace: string;
}

export interface ChangedEnv extends Record<string, string> {
  NODE_OPTIONS: string;
  PROOF_CHANGES: string;
}

/** The environment that applies the changes to a process. */
export function changedSource(changes: readonly SourceChange[]): ChangedEnv {
  return {
    NODE_OPTIONS: `--import=${import.meta.url}`,
    PROOF_CHANGES: JSON.stringify(changes),
  };
}

const asked = JSON.parse(process.env['PROOF_CHANGES'] ?? '[]') as readonly SourceChange[];
for (const change of asked) changeText(readFileSync(`${root}${change.file}`, 'utf8'), change);
if (asked.length > 0) {
  registerHooks({
    load: (url, context, nextLoad) => {
      const mine = asked.filter(({ file }) => url === pathToFileURL(`${root}${file}`).href);
      const loaded = nextLoad(url, context);
      if (mine.length === 0) return loaded;
      const text = readFileSync(fileURLToPath(url), 'utf8');
      return { ...loaded, source: mine.reduce(changeText, text) };
    },
  });
}

/** Applies a change. Throws unless the text occurs exactly once: otherwise the control is out of date. */
export function changeText(text: string, { file, find, replace }: SourceChange): string {
  const count = text.split(find).length - 1;
  if (count !== 1) throw new Error(`Cannot change ${file}: "${find}" occurs ${count} times`);
  return text.replace(find, () => replace);
}
