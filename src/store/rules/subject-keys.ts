// The keys under which patterns are stored and looked up. A subscription without a subject is stored under its plain
// patterns. One with a subject has two keys for each pattern: of its subject, and of any subject. So a publish reads
// only rows that match, however many subjects there are.
import { hash } from 'node:crypto';
import { ownPrefix } from '../../core/domain/event.ts';
import { patternsFor } from '../../core/domain/pattern.ts';
import type { Audience } from '../port/delivery-verbs.ts';

/** No pattern of a contract begins like this: own events belong to no contract. A subject is hashed, so it is short. */
const prefix = `${ownPrefix}subject`;

/** Between these are the keys of any subject, and no other keys. */
export const anySubjectBounds = [`${prefix} * `, `${prefix} *!`] as const;

/** The keys of a pattern of a callback. */
export function keysOf(pattern: string, subject: string | undefined): string[] {
  if (subject === undefined || pattern.startsWith(ownPrefix)) return [pattern];
  return [keyOfSubject(digestOf(subject), pattern), keyOfAnySubject(pattern)];
}

/** The patterns that match an event name. `*` does not match Ringback's own events; a pattern must name them. */
export function matchingPatterns(name: string): string[] {
  const patterns = patternsFor(name);
  return name.startsWith(ownPrefix) ? patterns.filter((pattern) => pattern !== '*') : patterns;
}

export interface Matching {
  name: string;
  subject: string | undefined;
  audience: Audience['kind'];
}

/** The keys of all callbacks that match an event, the most specific pattern first. */
export function matchingKeys({ name, subject, audience }: Matching): string[] {
  const patterns = matchingPatterns(name);
  if (audience === 'any_subject') return patterns.flatMap((one) => [one, keyOfAnySubject(one)]);
  if (subject === undefined) return patterns;
  const digest = digestOf(subject);
  return patterns.flatMap((pattern) => [pattern, keyOfSubject(digest, pattern)]);
}

/** The keys of callbacks that an event without a subject would pass by. Ringback's own events have none. */
export function passedByKeys({ name, subject, audience }: Matching): string[] {
  if (subject !== undefined || audience !== 'everyone' || name.startsWith(ownPrefix)) return [];
  return matchingPatterns(name).map(keyOfAnySubject);
}

function keyOfAnySubject(pattern: string): string {
  return `${prefix} * ${pattern}`;
}

function keyOfSubject(digest: string, pattern: string): string {
  return `${prefix} ${digest} ${pattern}`;
}

function digestOf(subject: string): string {
  return hash('sha256', subject, 'base64url');
}
