// A question that only a person at a terminal can answer. Anybody else must have said --yes.
import { calledWrongly } from './failure.ts';
import { logPainter } from './paint.ts';
import type { Terminal } from './terminal.ts';

export async function askYes(terminal: Terminal, question: string): Promise<boolean> {
  if (!terminal.input.isTerminal || !terminal.log.isTerminal) {
    throw calledWrongly(
      'Cannot ask whether to go on: there is nobody at a terminal, so give --yes',
    );
  }
  terminal.err(`${logPainter(terminal)('bold', question)} [y/N] `);
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
