// The terminal as commands get it: it obeys our own colours and the progress bar, and nothing else that is
// in a text, whoever wrote it. Every word of every command passes here, so none has to think of it.
import { harmless } from './harmless.ts';
import type { Terminal } from './terminal.ts';

export function guarded(terminal: Terminal, { isJson }: { isJson: boolean }): Terminal {
  const { out, err, isTerminal, isScreen, log, input, env, world } = terminal;
  // JSON says the same with other letters; into a pipe it goes as it is.
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
    /** Signals are heard from the moment that somebody asks. */
    get stopped() {
      return terminal.stopped;
    },
  };
}

/** Lines, tabs, and the colours of paint.ts. */
// oxlint-disable-next-line no-control-regex -- that is what it looks for
const ours = /(\n|\t|\u001b\[(?:1|2|22|31|32|33|36|39)m)/;
/** The same, and how a bar is drawn over: from the start of the line, with the rest of it erased. */
// oxlint-disable-next-line no-control-regex -- that is what it looks for
const oursAndBar = /(\n|\t|\u001b\[(?:1|2|22|31|32|33|36|39)m|^\r|\u001b\[K$)/;

/** What the pattern finds stands at every second place, and stays. */
function harmlessBut(kept: RegExp, text: string): string {
  return text
    .split(kept)
    .map((part, place) => (place % 2 === 1 ? part : harmless(part)))
    .join('');
}

/** The same value: what a terminal would obey can only stand in strings, where it has another spelling. */
function harmlessJson(text: string): string {
  // oxlint-disable-next-line no-control-regex -- the colours of a help text, which is no JSON
  return text.replaceAll(/(?![\n\u001b])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (char) =>
    Array.from({ length: char.length }, (_, unit) => {
      const number = char.charCodeAt(unit).toString(16);
      return `\\u${number.padStart(4, '0')}`;
    }).join(''),
  );
}
