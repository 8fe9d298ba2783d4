// The terminals of a page's reader: one bash for all blocks, and others for programs that keep running. Lines keep
// their numbers of the page, so that bash reports the line of the page.
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A safety net for tests that would hang: passing tests take far less. */
const patienceMs = 180_000;

export type Env = Readonly<Record<string, string>>;

export interface DocStage {
  /** The current folder. */
  folder: string;
  /** A hidden folder for typed lines. */
  scratch: string;
  env: Env;
}

export interface Typed {
  page: string;
  /** The line of the page at which `text` starts. */
  line: number;
  text: string;
}

export interface Ran {
  output: string;
  /** Undefined if every line succeeded. */
  failure: { line: number; command: string } | undefined;
}

/** Collects stdout and stderr together, as on a screen. */
class Screen {
  #text = '';
  #listeners = new Set<() => void>();
  #child: ChildProcess;
  ended: Promise<number | string>;

  constructor(child: ChildProcess) {
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        this.#text += chunk;
        for (const listener of this.#listeners) listener();
      });
    }
    this.ended = new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => resolve(code ?? String(signal)));
    });
    void this.ended.then(
      () => this.#listeners.forEach((listener) => listener()),
      () => undefined,
    );
  }

  text(): string {
    return this.#text;
  }

  /** Resolves with the result of `find` as soon as there is one; undefined if the process ends without. */
  async until<T>(find: (text: string) => T | undefined): Promise<T | undefined> {
    const found = Promise.withResolvers<T | undefined>();
    const look = (): void => {
      const result = find(this.#text);
      if (result !== undefined) found.resolve(result);
    };
    this.#listeners.add(look);
    const giveUp = AbortSignal.timeout(patienceMs);
    giveUp.addEventListener('abort', () =>
      found.reject(new Error(`It ran on and on, and did not come:\n${this.#text}`)),
    );
    look();
    this.ended.then(() => {
      look();
      found.resolve(undefined);
    }, found.reject);
    try {
      return await found.promise;
    } finally {
      this.#listeners.delete(look);
    }
  }

  /** Signals everything that was started in the terminal, like the keyboard. */
  async end(signal: NodeJS.Signals): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid !== undefined && exitCode === null && signalCode === null) signalGroup(pid, signal);
    const hard = setTimeout(() => pid !== undefined && signalGroup(pid, 'SIGKILL'), patienceMs / 6);
    await this.ended;
    clearTimeout(hard);
    if (pid !== undefined) signalGroup(pid, 'SIGKILL'); // Background processes of a script.
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // No process of the group is left.
  }
}

/** The shell for all blocks: variables and the folder are kept. */
export class Shell implements AsyncDisposable {
  #place: DocStage;
  #child: ChildProcess;
  #screen: Screen;
  #count = 0;

  constructor(place: DocStage) {
    this.#place = place;
    this.#child = startBash(place, ['--norc', '--noprofile']);
    this.#screen = new Screen(this.#child);
    this.#child.stdin?.on('error', () => undefined); // Waiting for output detects that the shell has ended.
    this.#child.stdin?.write('exec 2>&1; set -eE -o pipefail\n');
  }

  /** Runs up to the first failing line. With `mayFail` all lines run, and the last one decides. */
  async run(typed: Typed, { mayFail = false } = {}): Promise<Ran> {
    const file = await writeTyped(this.#place, typed, (this.#count += 1));
    const mark = randomBytes(8).toString('hex');
    const from = this.#screen.text().length;
    const line = mayFail
      ? `if source ${file} </dev/null; then printf '\\n${mark} 0 \\n'; else printf '\\n${mark} 1 \\n'; fi\n`
      : `trap 'printf "\\n${mark} %s %s\\n" "$LINENO" "$BASH_COMMAND"' ERR; ` +
        `source ${file} </dev/null; trap - ERR; printf '\\n${mark} 0 \\n'\n`;
    this.#child.stdin?.write(line);
    const pattern = new RegExp(`([^]*)\\n${mark} (\\d+) (.*)\\n`);
    const match = await this.#screen.until((text) => pattern.exec(text.slice(from)) ?? undefined);
    const [, output = '', failed, command = ''] = match ?? [];
    if (match === undefined) {
      const last = this.#screen.text().slice(from).replaceAll(file, typed.page);
      return { output: last, failure: { line: typed.line, command: 'the shell has ended' } };
    }
    const failure = failed === '0' ? undefined : { line: Number(failed), command };
    return { output: output.replaceAll(file, typed.page), failure };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#screen.end('SIGKILL');
  }
}

/** A terminal for a program that keeps running. It shares no variables with others. */
export class Terminal implements AsyncDisposable {
  #screen: Screen;
  /** The position up to which the output was matched. */
  #from = 0;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  static async start(place: DocStage, typed: Typed, name: string): Promise<Terminal> {
    const file = await writeTyped(place, typed, name);
    return new Terminal(new Screen(startBash(place, ['--norc', '--noprofile', '-e', file])));
  }

  /** Waits until new output matches. False if the program ends before that. */
  async shows(isThere: (text: string) => number | undefined): Promise<boolean> {
    const end = await this.#screen.until((text) => isThere(text.slice(this.#from)));
    if (end === undefined) return false;
    this.#from += end;
    return true;
  }

  text(): string {
    return this.#screen.text();
  }

  /** Ctrl-C. */
  async interrupt(): Promise<void> {
    await this.#screen.end('SIGINT');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#screen.end('SIGTERM');
  }
}

function startBash({ folder, env }: DocStage, args: readonly string[]): ChildProcess {
  return spawn('bash', args, { cwd: folder, env, stdio: 'pipe', detached: true });
}

/** Writes the lines after as many empty lines as the page has before them. */
async function writeTyped(
  { scratch }: DocStage,
  typed: Typed,
  name: number | string,
): Promise<string> {
  const file = join(scratch, `typed-${name}`);
  await writeFile(file, `${'\n'.repeat(typed.line - 1)}${typed.text}`);
  return file;
}
