// Overlays (OpenAPI Overlay 1.0) change a document when it is loaded, so that extensions can be added
// to a file that must stay as it is. The document on disk is never changed.
import { dirname, resolve } from 'node:path';
import { printPointer } from '../../core/base/pointer.ts';
import { bounds } from './bounds.ts';
import {
  type Budget,
  ContractError,
  type Document,
  type JsonObject,
  isList,
  isObject,
  own,
  readDocument,
  sizeFault,
} from './document.ts';
import { OutOfSteps, type NodePath, type Steps, parsePath, select, valueOf } from './json-path.ts';

export interface Overlaid {
  document: Document;
  /** One for each target that matches nothing. */
  warnings: readonly string[];
}

/** In the order of the files. Throws a ContractError for an overlay that cannot be applied. */
export function applyOverlays(
  document: Document,
  files: readonly string[],
  budget: Budget,
): Overlaid {
  const warnings: string[] = [];
  const steps: Steps = { left: bounds.stepsMax };
  // Parts that a YAML alias shares must not change together.
  let root: unknown = files.length === 0 ? document.root : copy(document.root);
  for (const file of files) {
    const overlay = readDocument(file, budget);
    const actions = actionsOf(overlay);
    if (!isMeantFor(overlay, document.path)) continue;
    for (const [index, action] of actions.entries()) {
      const at: ActionContext = { file, pointer: `#/actions/${index}`, steps };
      const places = placesOf(action, root, at);
      if (places.length === 0) {
        warnings.push(`overlay ${file}, ${at.pointer}: target ${shown(action)} matches nothing`);
      }
      root = applyAction(action, { root, places }, at);
    }
  }
  const flaw = files.length === 0 ? undefined : sizeFault(root);
  if (flaw !== undefined) {
    const file = files.join(', ');
    throw new ContractError(`Cannot apply overlay "${file}" to "${document.path}": ${flaw}`, {
      file,
    });
  }
  return { document: { ...document, root }, warnings };
}

interface ActionContext {
  file: string;
  pointer: string;
  steps: Steps;
}

function fail(
  { file, pointer }: Pick<ActionContext, 'file' | 'pointer'>,
  reason: string,
): ContractError {
  return new ContractError(`Cannot apply overlay "${file}" at ${pointer}: ${reason}`, {
    file,
    pointer,
  });
}

function actionsOf({ path: file, root }: Document): readonly JsonObject[] {
  const at = { file, pointer: '#' };
  const version = isObject(root) ? root['overlay'] : undefined;
  if (!isObject(root) || !/^1\.[01](?:\.|$)/u.test(String(version))) {
    throw fail(at, `field "overlay" is ${JSON.stringify(version) ?? 'missing'}, expected 1.0.0`);
  }
  const { actions } = root;
  if (!isList(actions)) throw fail(at, 'field "actions" is missing, expected a list');
  return actions.map((action, index) => {
    if (isObject(action)) return action;
    throw fail({ file, pointer: `#/actions/${index}` }, 'expected an object with "target"');
  });
}

/** `extends` names one document. A URL is not fetched and says nothing about files. */
function isMeantFor({ path, root }: Document, contract: string): boolean {
  const named = isObject(root) ? root['extends'] : undefined;
  if (typeof named !== 'string' || /^[a-z][a-z0-9+.-]+:/iu.test(named)) return true;
  return resolve(dirname(path), named) === resolve(contract);
}

function shown(action: JsonObject): string {
  return JSON.stringify(action['target']) ?? 'undefined';
}

function placesOf(action: JsonObject, root: unknown, at: ActionContext): readonly NodePath[] {
  const { target } = action;
  if (typeof target !== 'string') throw fail(at, '"target" is missing, expected a JSONPath');
  const parsed = parsePath(target);
  if (parsed.kind === 'malformed') {
    const place = `character ${parsed.at + 1} of the target ${shown(action)}`;
    throw fail(at, `at ${place}, expected ${parsed.expected}`);
  }
  return withinSteps(at, () => select(root, parsed.segments, at.steps));
}

function withinSteps<T>(at: ActionContext, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof OutOfSteps)) throw error;
    throw fail(at, `the overlays take more than ${bounds.stepsMax} steps`);
  }
}

/** `remove` wins over `update`, as the specification says. */
function applyAction(
  action: JsonObject,
  { root, places }: { root: unknown; places: readonly NodePath[] },
  at: ActionContext,
): unknown {
  const { update, remove } = action;
  if (remove === true) {
    removeAll(root, places, at);
    return root;
  }
  if (update === undefined) throw fail(at, 'expected "update", or "remove: true"');
  let changed = root;
  for (const place of places) {
    const before = valueOf(changed, place);
    if (!isObject(before) && !isList(before)) {
      const where = `#${printPointer(place.map(String))}`;
      throw fail(at, `the target ${where} is neither an object nor a list, which "update" needs`);
    }
    if (isObject(before) && !isObject(update)) {
      throw fail(at, 'the target is an object, expected "update" to be an object');
    }
    const after = withinSteps(at, () =>
      isList(before) ? [...before, copy(update)] : merge(before, update, at.steps),
    );
    changed = place.length === 0 ? after : (setValue(changed, place, after), changed);
  }
  return changed;
}

/** Objects are merged, lists are concatenated, anything else is replaced. */
function merge(before: unknown, update: unknown, steps: Steps): unknown {
  steps.left -= 1;
  if (steps.left < 0) throw new OutOfSteps();
  if (isList(before) && isList(update)) return [...before, ...update.map(copy)];
  if (!isObject(before) || !isObject(update)) return copy(update);
  const names = new Set([...Object.keys(before), ...Object.keys(update)]);
  steps.left -= names.size;
  return Object.fromEntries(
    [...names].map((name) => {
      if (!Object.hasOwn(update, name)) return [name, before[name]];
      return [name, merge(own(before, name), update[name], steps)];
    }),
  );
}

function copy(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function setValue(root: unknown, place: NodePath, value: unknown): void {
  const holder = valueOf(root, place.slice(0, -1));
  // Never an assignment: a member may be called `__proto__`.
  const how = { value, writable: true, enumerable: true, configurable: true };
  Object.defineProperty(holder, place.at(-1) ?? '', how);
}

/** All holders are found first: the removal of one place must not move another. */
function removeAll(root: unknown, places: readonly NodePath[], at: ActionContext): void {
  const removals = places.map((place) => {
    const last = place.at(-1);
    if (last === undefined) {
      throw fail(at, 'the target is the whole document, which cannot be removed');
    }
    return { holder: valueOf(root, place.slice(0, -1)), last };
  });
  for (const { holder, last } of removals) {
    if (isObject(holder)) Reflect.deleteProperty(holder, last);
  }
  const listed = removals.filter(({ holder }) => isList(holder));
  const fromTheEnd = listed.toSorted((one, other) => Number(other.last) - Number(one.last));
  for (const { holder, last } of fromTheEnd) {
    if (Array.isArray(holder)) holder.splice(Number(last), 1);
  }
}
