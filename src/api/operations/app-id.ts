// Refuses a request that names one app and carries the key of another. Otherwise an operation that
// takes no app id would ignore it and act on the wrong app.
import type { Operation } from '../../contract/model/contract.ts';
import { withoutPrefix, withPrefix } from '../../core/base/id.ts';
import { Problem } from '../../core/errors/problem.ts';
import { redact } from '../../core/secrets/redact.ts';
import type { RawHead } from '../request/raw-request.ts';

/** `appId`: the app on whose behalf the request runs, without its prefix. */
export type CheckAppId = (head: RawHead, appId: string) => void;

export function appIdCheck(operation: Operation): CheckAppId {
  const places = appIdPlaces(operation);
  return (head, appId) => {
    for (const { name, sentIn, isDeclared } of places) {
      for (const sent of sentIn(head)) {
        if (sent === '' || sent === withPrefix('app', appId)) continue;
        // If the document does not declare the header, its value may be something else.
        if (!isDeclared && withoutPrefix('app', sent) === undefined) continue;
        throw wrongApp(name, sent);
      }
    }
  };
}

interface AppIdPlace {
  name: string;
  sentIn: (head: RawHead) => readonly string[];
  isDeclared: boolean;
}

/**
 * All schemes of the document that carry an app id. X-APP-ID counts even if undeclared, unless the
 * operation has a parameter of that name with another meaning.
 */
function appIdPlaces({ schemes, parameters }: Operation): AppIdPlace[] {
  const declared = schemes.flatMap(({ credential, carrier }): AppIdPlace[] => {
    if (credential !== 'app_id' || !('name' in carrier)) return [];
    const { in: place, name } = carrier;
    return [{ name, sentIn: (head) => valuesIn(head, place, name), isDeclared: true }];
  });
  const isKnown = [...declared, ...parameters].some(
    ({ name }) => name.toLowerCase() === usualHeader.toLowerCase(),
  );
  if (isKnown) return declared;
  const sentIn = (head: RawHead): readonly string[] => valuesIn(head, 'header', usualHeader);
  return [...declared, { name: usualHeader, sentIn, isDeclared: false }];
}

const usualHeader = 'X-APP-ID';

function valuesIn(head: RawHead, place: 'header' | 'query' | 'cookie', name: string): string[] {
  if (place === 'header') return head.headerLines(name).map((line) => line.trim());
  const pairs = place === 'query' ? head.query : head.cookies;
  return pairs.filter(([each]) => each === name).map(([, value]) => value);
}

/** Does not reveal the key's app: the id that was sent may be a guess. */
function wrongApp(name: string, sent: string): Problem {
  const shown = JSON.stringify(redact(sent));
  const detail =
    `${name} is ${shown}, but the key belongs to another app. Send the app id of the key, ` +
    'or a key of that app';
  const message = `is ${shown}, expected the app id of the key`;
  return new Problem('wrong_app', detail, { faults: [{ field: name, message }] });
}
