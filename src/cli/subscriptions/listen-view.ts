// Shows a received callback to people. Its content may be hostile: nothing in it may control the
// terminal, and the body is indented, so that it cannot imitate a line of ours.
import type { ForgeryCode } from '../../receiver/receiver.ts';
import { harmless, harmlessLines } from '../terminal/harmless.ts';
import { painter } from '../terminal/paint.ts';
import type { Terminal } from '../terminal/terminal.ts';

export type Signature =
  | { kind: 'ok' }
  | { kind: 'wrong'; why: ForgeryCode }
  /** It names no subscription of Ringback. */
  | { kind: 'foreign' };

export interface Heard {
  /** When it was received. */
  at: string;
  event: string | undefined;
  id: string | undefined;
  subscription: string | undefined;
  delivery: string | undefined;
  attempt: string | undefined;
  signature: Signature;
  /** The answer of the --forward target; undefined without one. */
  forwarded: number | undefined;
  body: string;
}

export function showCallback(heard: Heard, terminal: Pick<Terminal, 'isScreen'>): string {
  const paint = painter(terminal);
  const { at, event = '', id = '', attempt = '', signature, forwarded, body } = heard;
  const sign = paint(signature.kind === 'ok' ? 'green' : 'red', signatureText(signature));
  const again = attempt === '1' ? '' : paint('yellow', ` attempt ${harmless(attempt)}`);
  const answered = forwarded === undefined || forwarded < 300 ? 'green' : 'red';
  const behind = forwarded === undefined ? '' : `  forwarded: ${paint(answered, `${forwarded}`)}`;
  const clock = paint('dim', at.slice(11, 19));
  const head = `${clock}  ${paint('bold', harmless(event))}  ${harmless(id)}  ${sign}${again}${behind}`;
  const lines = harmlessLines(body).split('\n');
  return [head, ...lines.map((line) => `  ${line}`), ''].join('\n');
}

function signatureText(signature: Signature): string {
  if (signature.kind === 'ok') return 'signature ok';
  if (signature.kind === 'foreign') return 'not from Ringback';
  const why = signature.why === 'signature_wrong' ? '' : ` (${signature.why})`;
  return `SIGNATURE INVALID${why}`;
}
