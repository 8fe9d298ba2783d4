// The filter of a subscription, as its row keeps it: among its settings, as JSON.
import { strict as assert } from 'node:assert';
import type { Filter, Rules } from '../core/filter.ts';
import { rulesOf } from '../core/filter.ts';
import { limits } from '../core/limits.ts';

/** Undefined: it has none. */
export function rulesIn(settings: string): Rules | undefined {
  if (settings === '{}') return undefined;
  const known = remembered.get(settings);
  if (known !== undefined) return known.rules;
  const filter = filterIn(settings);
  const rules = filter && rulesOf(filter);
  remember(settings, rules);
  return rules;
}

/**
 * By the whole text, which says itself when it is another one: there is nothing to take back when a
 * transaction fails or another node writes. A publish on SQLite that asks 100 filters takes 280 to 420 µs
 * with it and 540 to 570 without (CPU time, 2 busy cores; one that asks none takes 24 to 43).
 */
const remembered = new Map<string, { rules: Rules | undefined }>();
let rememberedChars = 0;

function remember(settings: string, rules: Rules | undefined): void {
  rememberedChars += settings.length;
  if (rememberedChars > limits.settingsRememberedCharsMax) {
    remembered.clear();
    rememberedChars = settings.length;
  }
  remembered.set(settings, { rules });
}

function filterIn(settings: string): Filter | undefined {
  const all: unknown = JSON.parse(settings);
  if (typeof all !== 'object' || all === null || !('filter' in all)) return undefined;
  const { filter } = all;
  assert(isFilter(filter), 'Cannot read a filter: its row has none that was ever accepted');
  return filter;
}

/** It was checked when it was accepted; here only its shape is. */
function isFilter(value: unknown): value is Filter {
  return typeof value === 'object' && value !== null && Object.values(value).every(Array.isArray);
}
