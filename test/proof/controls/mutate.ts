// Breaks the product on purpose, for one process: a hook that changes the text of a source file as it is
// loaded, before its types are stripped. The product itself has no switch. Start with
// `--import test/proof/controls/mutate.ts` and RINGBACK_CONTROL=<name>; threads inherit both.
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { controls, type Control } from './controls.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const name = process.env['RINGBACK_CONTROL'];
if (name !== undefined) mutate(find(name));

function find(wanted: string): Control {
  const found = controls.find((one) => one.name === wanted);
  if (found === undefined) throw new Error(`There is no control "${wanted}"`);
  return found;
}

function mutate(control: Control): void {
  const target = pathToFileURL(join(root, control.file)).href;
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context);
      if (url !== target) return loaded;
      if (loaded.source === undefined || loaded.source === null) {
        throw new Error(`Cannot break ${control.file}: it has no source`);
      }
      const source = String(
        typeof loaded.source === 'string' ? loaded.source : Buffer.from(asBytes(loaded.source)),
      );
      return { ...loaded, source: broken(source, control) };
    },
  });
}

/** The text with the change; what is looked for must be there exactly once, or the control has rotted. */
export function broken(source: string, control: Control): string {
  const count = source.split(control.find).length - 1;
  if (count !== 1) {
    throw new Error(`Control "${control.name}" finds its text ${count} times in ${control.file}`);
  }
  return source.replace(control.find, () => control.replace);
}

function asBytes(source: ArrayBuffer | ArrayBufferView): Uint8Array {
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
}
