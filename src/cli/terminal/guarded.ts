// The terminal that commands get: it passes our own colours and the progress bar, and escapes every
// other control character. All output goes through it, so that no command has to think of it.
import { harmless } from './harmless.ts';
import type { Terminal } from './terminal.ts';

export function guarded(terminal: Terminal, { isJson }: { isJson: boolean }): Terminal {
  const { out, err, isTerminal, isScreen, log, input, env, world } = terminal;
  // JSON escapes keep the value; into a pipe it goes unchanged.
  const asJson = isTerminal ? harmlessJson : (text: string) => text;
  return {
    out: (text) => out(isJson ? asJson(text) : harmlessBut(ours, text)),
    err: (text) => err(harmlessBut(oursAndBar, text)),
    isTerminal,
    isScreen,
    log,
    width: () => terminal.width(),
    input,
    env,
    world,
    /** Signal handlers are installed on first use. */
    get stopped() {
      return terminal.stopped;
    },
  };
}

/** Line breaks, tabs, and the colours of paint.ts. */
// oxlint-disable-next-line no-control-regex -- that is what it looks for
const ours = /(\n|\t|\u001b\[(?:1|2|22|31|32|33|36|39)m)/;
/** Also how the progress bar is redrawn: from the start of the line, erasing the rest. */
// oxlint-disable-next-line no-control-regex -- that is what it looks for
const oursAndBar = /(\n|\t|\u001b\[(?:1|2|22|31|32|33|36|39)m|^\r|\u001b\[K$)/;

/** `split` with a group puts matches at odd indexes; they stay. */
function harmlessBut(kept: RegExp, text: string): string {
  return text
    .split(kept)
    .map((part, place) => (place % 2 === 1 ? part : harmless(part)))
    .join('');
}

/** The same JSON value: control characters occur only in strings, where they can be escaped. */
function harmlessJson(text: string): string {
  // oxlint-disable-next-line no-control-regex -- the colours of a help text, which is no JSON
  return text.replaceAll(/(?![\n\u001b])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (char) =>
    Array.from({ length: char.length }, (_, unit) => {
      const number = char.charCodeAt(unit).toString(16);
      return `\\u${number.padStart(4, '0')}`;
    }).join(''),
  );
}
