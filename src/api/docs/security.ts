// Describes the authentication of an operation, and the section on all schemes.
import type { Alternative, Carrier, Operation, Scheme } from '../../contract/model/contract.ts';
import { isAppIdScheme, isSessionScheme } from '../../contract/model/security.ts';
import { scopeOf } from '../operations/authenticate.ts';
import { html, join } from './html.ts';
import type { Fragment, Html } from './html.ts';
import { prose } from './prose.ts';
import type { View } from './view.ts';
import { entriesOf, objectAt, textIn } from './written.ts';

/**
 * "API key in header X-API-Key, or query api_key", with "and" where several are required together.
 */
export function authenticationWords({ security }: Pick<Operation, 'security'>): Fragment {
  if (security.length === 0) return 'None';
  if (security.some(({ schemes }) => schemes.some(isShut))) {
    return 'Not callable: no alternative of the document can be executed';
  }
  const isAnybody = security.some(({ schemes }) => schemes.length === 0);
  const keys = security.filter((one) => one.schemes.length > 0 && !isOfConsole(one));
  if (keys.length === 0 && !isAnybody) return 'Console session';
  const words = alternativeWords(keys);
  return isAnybody ? [words, ', or none'] : words;
}

export function scopeWords(operation: Operation): Fragment {
  const scope = scopeOf(operation);
  if (scope === undefined || operation.security.length === 0) return undefined;
  return html`<code>${scope}</code>`;
}

/** All schemes of a document. */
export function securitySection(view: View): Html | undefined {
  const schemes = entriesOf(objectAt(view.root, view.root['components'], 'securitySchemes'));
  if (schemes.length === 0) return undefined;
  const rows = schemes.map(([name, value]) => {
    const scheme = objectAt(view.root, value);
    return html`<tr>
      <th scope="row"><code>${name}</code></th>
      <td>${schemeWords(scheme)}${prose(textIn(scheme, 'description'))}</td>
    </tr>`;
  });
  return html`<section id="security" aria-labelledby="security-title">
    <h2 id="security-title">Authentication</h2>
    <p>
      Each operation lists the schemes it accepts. One of several is enough; schemes joined by “and”
      are required together. The examples read the key from <code>$KEY</code>.
    </p>
    <table class="pairs">
      <thead>
        <tr>
          <th scope="col">Scheme</th>
          <th scope="col">Location</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </section>`;
}

/**
 * The console session is described once in the section: it is the same everywhere and not for other
 * programs.
 */
function isOfConsole({ schemes }: Alternative): boolean {
  return schemes.some(({ credential }) => credential === 'session');
}

function isShut({ carrier }: Scheme): boolean {
  return carrier.in === 'nowhere';
}

/** A prefix that all alternatives share is written once. */
function alternativeWords(alternatives: readonly Alternative[]): Fragment {
  const areSingleKeys = alternatives.every(
    ({ schemes }) => schemes.length === 1 && schemes[0]?.credential === 'key',
  );
  const phrases = alternatives.map(({ schemes }, index) => {
    const isFirst = index === 0;
    const words = schemes.map((scheme) =>
      areSingleKeys && !isFirst ? carrierWords(scheme.carrier) : credentialWords(scheme),
    );
    return join(words, ' and ');
  });
  return phrases.length === 0 ? 'None' : join(phrases, ', or ');
}

function credentialWords({ credential, carrier }: Scheme): Fragment {
  return [credential === 'app_id' ? 'app ID in ' : 'API key in ', carrierWords(carrier)];
}

function carrierWords(carrier: Carrier): Fragment {
  switch (carrier.in) {
    case 'header':
    case 'query':
    case 'cookie':
      return html`${carrier.in} <code>${carrier.name}</code>`;
    case 'bearer':
      return html`header <code>Authorization: Bearer</code>`;
    case 'basic':
      return html`header <code>Authorization: Basic</code>, as the password`;
    case 'nowhere':
      return 'a place that no request has';
  }
}

function credentialName(scheme: Readonly<Record<string, unknown>>): string {
  if (isSessionScheme(scheme)) return 'Console session';
  return isAppIdScheme(scheme) ? 'App ID' : 'API key';
}

function schemeWords(scheme: Readonly<Record<string, unknown>>): Fragment {
  const type = textIn(scheme, 'type') ?? 'unknown';
  if (type === 'apiKey') {
    return html`<p>
      ${credentialName(scheme)} in ${textIn(scheme, 'in')} <code>${textIn(scheme, 'name')}</code>
    </p>`;
  }
  const kind = [type, textIn(scheme, 'scheme')].filter((word) => word !== undefined).join(' ');
  const isBasic = textIn(scheme, 'scheme')?.toLowerCase() === 'basic';
  if (type === 'http' && isBasic) return html`<p>${kind}: the key is the password</p>`;
  if (type === 'mutualTLS') return html`<p>${kind}: not supported</p>`;
  return html`<p>${kind}: the key as <code>Authorization: Bearer</code></p>`;
}
