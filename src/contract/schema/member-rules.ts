// The keywords of JSON Schema that apply other schemas to the members of an object or to the items of a list.
import { bounds } from '../document/bounds.ts';
import { isList, isObject, own, type JsonObject } from '../document/document.ts';
import { regexOf } from './assertions.ts';
import { apply, costOf, inside, memberOf, nameFor, namesOf } from './evaluation.ts';
import { quietly, report, rulesAt, markEvaluated } from './evaluation.ts';
import type { Applied, At, Node, Rule } from './evaluation.ts';
import type { StepBudget } from './step-budget.ts';
import type { Regex } from './regex.ts';

export const memberRules: ReadonlyMap<string, (applied: Applied) => Rule> = new Map(
  Object.entries({
    prefixItems({ limit, reader }: Applied): Rule {
      const nodes = (isList(limit) ? limit : []).map((schema) => reader.nodeOf(schema));
      return (value, at) => {
        if (!isList(value)) return true;
        const count = Math.min(nodes.length, value.length);
        if (at.seen !== undefined) at.seen.itemsBefore = Math.max(at.seen.itemsBefore, count);
        return each(count, at, (n) => applyAt(nodes[n], value[n], inside(at, n)));
      };
    },
    items: itemsRule,
    contains: containsRule,
    unevaluatedItems({ limit, reader }: Applied): Rule {
      const node = reader.nodeOf(limit);
      return (value, at) => {
        const { seen } = at;
        if (!isList(value) || seen === undefined || seen.itemsBefore >= value.length) return true;
        const first = seen.itemsBefore;
        seen.itemsBefore = Infinity;
        return each(value.length - first, at, (n) => {
          return seen.items.has(first + n) || apply(node, value[first + n], inside(at, first + n));
        });
      };
    },
    propertyNames({ limit, reader }: Applied): Rule {
      const node = reader.nodeOf(limit);
      return eachMember((_value, name, at) => apply(node, name, inside(at, name)));
    },
    properties: propertiesRule,
    patternProperties({ limit, reader }: Applied): Rule {
      const matchOf = matcher(limit);
      const nodes = Object.values(isObject(limit) ? limit : {}).map((schema) =>
        reader.nodeOf(schema),
      );
      return eachMember((value, name, at) => {
        const matching = matchOf(at.budget).flatMap((regex, n) =>
          regex.test(name, at.budget) ? [n] : [],
        );
        if (matching.length > 0) markEvaluated(at, name);
        return matching.every((n) => applyAt(nodes[n], value[name], inside(at, name)));
      });
    },
    additionalProperties({ limit, schema, reader }: Applied): Rule {
      const node = reader.nodeOf(limit);
      const declared = own(schema, 'properties');
      const names = new Set(Object.keys(isObject(declared) ? declared : {}));
      const patterns = own(schema, 'patternProperties');
      const hasPatterns = patterns !== undefined;
      const matchOf = matcher(patterns);
      return eachMember((value, name, at) => {
        if (names.has(name)) return true;
        if (hasPatterns && matchOf(at.budget).some((regex) => regex.test(name, at.budget)))
          return true;
        markEvaluated(at, name);
        return apply(node, value[name], inside(at, name));
      });
    },
    unevaluatedProperties({ limit, reader }: Applied): Rule {
      const node = reader.nodeOf(limit);
      return eachMember((value, name, at) => {
        if (at.seen === undefined || at.seen.names.has(name)) return true;
        markEvaluated(at, name);
        return apply(node, value[name], inside(at, name));
      });
    },
  }),
);

function itemsRule({ limit, schema, reader }: Applied): Rule {
  const node = reader.nodeOf(limit);
  const prefix = own(schema, 'prefixItems');
  const first = isList(prefix) ? prefix.length : 0;
  return (value, at) => {
    if (!isList(value)) return true;
    if (at.seen !== undefined) at.seen.itemsBefore = Infinity;
    const fitting = fittingFrom(first, { node, value, at });
    if (fitting >= value.length || at.findings === undefined) return fitting >= value.length;
    const count = value.length - fitting;
    return each(count, at, (n) => apply(node, value[fitting + n], inside(at, fitting + n)));
  };
}

interface Items {
  node: Node;
  value: readonly unknown[];
  at: At;
}

/** Skips items that fit, without making a place for each. Returns the number of the first one that does not. */
function fittingFrom(first: number, { node, value, at }: Items): number {
  const quiet = quietly(at);
  const { budget } = at;
  const isOfType = first < value.length ? rulesAt(node, at).isOfType : undefined;
  for (let n = first; n < value.length; n += 1) {
    if (isOfType !== undefined) {
      if ((n - first) % itemsAtOnce === 0) {
        budget.spend(Math.min(itemsAtOnce, value.length - n) * costOf.member);
      }
      if (!isOfType(value[n])) return n;
      continue;
    }
    budget.spend(costOf.member);
    if (!apply(node, value[n], quiet)) return n;
  }
  return Math.max(first, value.length);
}

/** They are paid for together. */
const itemsAtOnce = 64;

/** Walks over the declared names or over those of the value, whichever are fewer. */
function propertiesRule({ limit, reader }: Applied): Rule {
  const nodes = new Map(
    Object.entries(isObject(limit) ? limit : {}).map(([name, schema]) => [
      name,
      { ...nameFor(name), node: reader.nodeOf(schema) },
    ]),
  );
  const declared = [...nodes.values()];
  return (value, at) => {
    if (!isObject(value)) return true;
    const names = declared.length > namesMax ? namesOf(value, at.budget) : undefined;
    const walked =
      names !== undefined && names.length < declared.length
        ? names.flatMap((name) => nodes.get(name) ?? [])
        : declared;
    if (at.findings === undefined && at.seen === undefined) {
      at.budget.spend(walked.length * costOf.member);
      for (const one of walked) {
        const member = memberOf(value, one);
        if (member !== undefined && !apply(one.node, member, at)) return false;
      }
      return true;
    }
    return each(walked.length, at, (n) => {
      const one = walked[n];
      const member = one && memberOf(value, one);
      if (one === undefined || member === undefined) return true;
      markEvaluated(at, one.name);
      return apply(one.node, member, inside(at, one.name));
    });
  };
}

/** With so few declared names, it is cheaper not to list those of the value. */
const namesMax = 32;

function containsMessage(): string {
  return 'contains too few or too many of the items that it must contain';
}

/** Faults of single items say nothing about a list that must contain another one. */
function containsRule({ limit, schema, reader }: Applied): Rule {
  const node = reader.nodeOf(limit);
  const least = Number(own(schema, 'minContains') ?? 1);
  const most = Number(own(schema, 'maxContains') ?? Infinity);
  return (value, at) => {
    if (!isList(value)) return true;
    const quiet = quietly(at);
    let found = 0;
    for (const [n, item] of value.entries()) {
      at.budget.spend(costOf.member);
      if (!apply(node, item, quiet)) continue;
      found += 1;
      if (at.seen !== undefined) at.budget.spend(costOf.entry);
      at.seen?.items.add(n);
      if (found > most || (found >= least && most === Infinity && at.seen === undefined)) break;
    }
    return (
      (found >= least && found <= most) ||
      report(at, { keyword: 'contains', message: containsMessage })
    );
  };
}

/** The expressions are read with the first check, which pays for them. */
function matcher(patterns: unknown): (budget: StepBudget) => readonly Regex[] {
  const sources = Object.keys(isObject(patterns) ? patterns : {});
  const read: Regex[] = [];
  return (budget) => {
    while (read.length < sources.length) {
      read.push(regexOf(sources[read.length] ?? '', budget));
    }
    return read;
  };
}

function eachMember(fits: (value: JsonObject, name: string, at: At) => boolean): Rule {
  return (value, at) => {
    if (!isObject(value)) return true;
    const names = namesOf(value, at.budget);
    if (at.isThorough) return each(names.length, at, (n) => fits(value, names[n] ?? '', at));
    for (const name of names) {
      at.budget.spend(costOf.member);
      if (!fits(value, name, at)) return false;
    }
    return true;
  };
}

function applyAt(node: Node | undefined, value: unknown, at: At): boolean {
  return node === undefined || apply(node, value, at);
}

/** Stops at enough findings: a list may have a fault in each of its items. */
function each(count: number, at: At, fits: (n: number) => boolean): boolean {
  const before = at.findings?.length ?? 0;
  let isFitting = true;
  for (let n = 0; n < count; n += 1) {
    at.budget.spend(costOf.member);
    if (fits(n)) continue;
    isFitting = false;
    if (!at.isThorough || (at.findings?.length ?? 0) - before >= bounds.errorsMax) break;
  }
  return isFitting;
}
