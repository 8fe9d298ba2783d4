// Asks a yes/no question that only a person at a terminal can answer; everyone else must pass
// --yes.
import { calledWrongly } from '../terminal/failure.ts';
import { logPainter } from '../terminal/paint.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface Question {
  /** Context in lines, printed before the question and in the error. */
  about: string;
  question: string;
}

export async function askYes(terminal: Terminal, { about, question }: Question): Promise<boolean> {
  if (!terminal.input.isTerminal || !terminal.log.isTerminal) {
    throw calledWrongly(
      `${about}Cannot ask for confirmation: standard input is not a terminal. Pass --yes to ` +
        'skip the question',
    );
  }
  terminal.err(`${about}${logPainter(terminal)('bold', question)} [y/N] `);
  return /^\s*y(es)?\s*$/i.test(await firstLine(terminal));
}

async function firstLine({ input }: Terminal): Promise<string> {
  let line = '';
  for await (const chunk of input.bytes()) {
    line += Buffer.from(chunk).toString();
    if (line.includes('\n') || line.length > lineCharsMax) break;
  }
  return line;
}

const lineCharsMax = 1_000;
