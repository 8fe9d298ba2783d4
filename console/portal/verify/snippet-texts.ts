// Code that verifies signatures in the languages that customers use, without packages where their standard libraries
// suffice. The tests of the portal run these files.
import { quote } from '../../src/deliveries/curl.ts';
import goPair from './code/ed25519.go?raw';
import nodePair from './code/ed25519.mjs?raw';
import pythonPair from './code/ed25519.py?raw';
import go from './code/hmac.go?raw';
import node from './code/hmac.mjs?raw';
import python from './code/hmac.py?raw';
import curl from './code/hmac.sh?raw';

export type Signing = 'hmac' | 'ed25519';

export type Snippet = {
  readonly name: string;
  readonly title: string;
  readonly code: string;
};

/** `url`: where the curl command sends its request. */
export function snippetsFor(signing: Signing, url: string): readonly Snippet[] {
  if (signing === 'ed25519') {
    return [
      { name: 'node', title: 'Node.js', code: nodePair },
      { name: 'python', title: 'Python', code: pythonPair },
      { name: 'go', title: 'Go', code: goPair },
    ];
  }
  return [
    { name: 'node', title: 'Node.js', code: node },
    { name: 'python', title: 'Python', code: python },
    { name: 'go', title: 'Go', code: go },
    // Only a request with a shared secret can be tried like this: the private key of a pair is not known.
    { name: 'curl', title: 'curl', code: curl.replace(/^url=.*$/mu, () => `url=${quote(url)}`) },
  ];
}
